// From what a terminal printed to what each of its rows showed, and when.
import { newScreen, rows } from './terminal.mjs';

/** Screens that last shorter than this are not seen by anybody, in seconds. */
const shortest = 0.08;

/** One row's content for a time: [{ from, to, runs, cursor }], for each row. */
export async function frames(events, seconds) {
  const screen = newScreen();
  const all = Array.from({ length: rows }, () => []);
  for (const [i, [at, , text]] of events.entries()) {
    await new Promise((done) => { screen.write(text, done); });
    const next = events[i + 1]?.[0] ?? seconds;
    if (next - at < shortest && i + 1 < events.length && !due(at, next)) continue;
    keep(all, screen, at);
  }
  return all.map((row) => row.map((content, i) => ({ ...content, to: row[i + 1]?.from ?? seconds })));
}

/** Says whether a moment that is a multiple of the shortest time lies between two. */
function due(at, next) {
  return Math.floor(at / shortest) !== Math.floor(next / shortest);
}

function keep(all, screen, at) {
  const buffer = screen.buffer.active;
  for (const [y, row] of all.entries()) {
    const content = { runs: runsOf(buffer.getLine(buffer.baseY + y)), cursor: buffer.cursorY === y && !screen.modes?.cursorHidden ? buffer.cursorX : -1 };
    const last = row.at(-1);
    if (last && JSON.stringify([last.runs, last.cursor]) === JSON.stringify([content.runs, content.cursor])) continue;
    row.push({ from: at, ...content });
  }
}

/** A line as runs of the same look: { x, text, colour, bold, dim }; blanks are left out. */
function runsOf(line) {
  const runs = [];
  if (!line) return runs;
  for (let x = 0; x < line.length; x++) {
    const cell = line.getCell(x);
    const text = cell.getChars();
    if (!text || text === ' ') continue;
    const look = { colour: cell.isFgPalette() ? cell.getFgColor() : -1, bold: cell.isBold() > 0, dim: cell.isDim() > 0 };
    const last = runs.at(-1);
    if (last && x - last.x - last.text.length <= 1 && same(last, look)) last.text += ' '.repeat(x - last.x - last.text.length) + text;
    else runs.push({ x, text, ...look });
  }
  return runs;
}

const same = (a, b) => a.colour === b.colour && a.bold === b.bold && a.dim === b.dim;
