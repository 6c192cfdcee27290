// record.mjs FILE: plays the story and writes it as an animated SVG, and as FILE.cast (asciicast v2) for asciinema.
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { frames } from './frames.mjs';
import { play } from './story.mjs';
import { draw } from './svg.mjs';
import { columns, rows } from './terminal.mjs';

const largest = 150_000;
const [file] = process.argv.slice(2);
const { events, seconds } = await play();
const header = { version: 2, width: columns, height: rows, env: { TERM: 'xterm-256color' }, title: 'sidecar' };
writeFileSync(`${file}.cast`, [header, ...events].map((line) => `${JSON.stringify(line)}\n`).join(''));
const svg = draw(await frames(events, seconds), seconds);
if (svg.length > largest) throw new Error(`${svg.length} bytes are more than a page should load: ${largest}`);
if (svg.includes(dirname(file))) throw new Error(`it shows a path of this machine: ${dirname(file)}`);
writeFileSync(file, svg);
