// Draws rows that change with time as an SVG that needs no script: each content of a row is shown for its time by CSS.
// Where animations are off or not known, the last screen is shown.
import { columns, rows } from './terminal.mjs';

const cell = { width: 8.4, height: 19, size: 14 };
const margin = 18;
const bar = 38;
const palette = ['#6e7681', '#ff7b72', '#7ee787', '#e3b341', '#79c0ff', '#d2a8ff', '#76e3ea', '#c9d1d9', '#8b949e', '#ffa198', '#a5f0b4', '#f2cc60', '#a5d6ff', '#e2c5ff', '#b3f0ff', '#f0f6fc'];
const width = round(columns * cell.width + 2 * margin);
const height = rows * cell.height + bar + margin;

export function draw(all, seconds) {
  const times = new Set();
  const body = all.map((row, y) => row.map((content) => drawn(content, y, seconds, times)).join('')).join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>sidecar in a terminal</title>
<style>
text{font:${cell.size}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d1d7e0;white-space:pre}
.b{font-weight:600;fill:#f0f6fc}.c{fill:#8b949e}
${palette.map((colour, i) => `.p${i}{fill:${colour}}`).join('')}
g{visibility:hidden;animation:${round(seconds)}s step-end infinite}.z{visibility:visible}
${[...times].join('\n')}
@media (prefers-reduced-motion:reduce){g{animation:none!important}}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10" fill="#0d1117" stroke="#3d444d"/>
<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>
<text x="${width / 2}" y="25" text-anchor="middle" class="p8">~/shop</text>
${body}
</svg>
`;
}

/** A row's content for its time. */
function drawn({ from, to, runs, cursor }, y, seconds, times) {
  const inner = (cursor < 0 ? '' : cursorAt(cursor, y)) + runs.map((run) => textOf(run, y)).join('');
  if (!inner) return '';
  const last = to >= seconds;
  if (from <= 0 && last) return `<g class="z" style="animation:none">${inner}</g>`;
  return `<g${last ? ' class="z"' : ''} style="animation-name:${span(from, to, seconds, times)}">${inner}</g>`;
}

/** The name of the keyframes that show something from one time to another. */
function span(from, to, seconds, times) {
  const [start, end] = [from, to].map((t) => Math.round(t / seconds * 1e4));
  const name = `k${start}_${end}`;
  const steps = [
    start > 0 ? '0%{visibility:hidden}' : '',
    `${start / 100}%{visibility:visible}`,
    end < 1e4 ? `${end / 100}%,100%{visibility:hidden}` : '100%{visibility:visible}',
  ];
  times.add(`@keyframes ${name}{${steps.join('')}}`);
  return name;
}

function cursorAt(x, y) {
  return `<rect class="c" x="${round(margin + x * cell.width)}" y="${bar + y * cell.height + 2}" width="${cell.width}" height="${cell.height - 3}"/>`;
}

/** Text with its length given, so that any font fits the grid. */
function textOf({ x, text, colour, bold, dim }, y) {
  const classes = [bold ? 'b' : '', colour >= 0 ? `p${nearest(colour)}` : dim ? 'p8' : ''].filter(Boolean).join(' ');
  const length = text.length > 1 ? ` textLength="${round(text.length * cell.width)}"` : '';
  return `<text x="${round(margin + x * cell.width)}" y="${bar + y * cell.height + 15}"${length}${classes ? ` class="${classes}"` : ''}>${escaped(text)}</text>`;
}

/** One of the sixteen colours; greys of the larger palette are the dark one. */
function nearest(colour) {
  return colour < 16 ? colour : 0;
}

function escaped(text) {
  return text.replace(/[&<>]/g, (c) => `&#${c.codePointAt(0)};`);
}

function round(n) {
  return Math.round(n * 10) / 10;
}
