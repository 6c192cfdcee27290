// Output of programs made harmless for a terminal (ECMA-48: control sequences, control strings, SGR). Text, tabs, line
// ends and SGR pass; all else is left out, so that no sequence can write elsewhere, ask the terminal or touch the clipboard.

const on = new Set([1, 2, 3, 4, 7, 9, 21, 53]);
/** What a code takes back. */
const off = new Map<number, number[]>([
  [22, [1, 2]],
  [23, [3]],
  [24, [4, 21]],
  [27, [7]],
  [29, [9]],
  [55, [53]],
]);

/** What is written with: colours and attributes. Concealing (8) and blinking (5, 6) are left out. */
export class Pen {
  private readonly attributes = new Set<number>();
  private fg = '';
  private bg = '';

  /** Takes the parameters of one SGR. */
  take(params: string): void {
    const codes = params
      .split(';')
      .flatMap(plainly)
      .map((p) => Math.min(Number(p) || 0, 255));
    for (let i = 0; i < codes.length; i++) i = this.code(codes, i);
  }

  /** Takes the code at i, and gives the index of its last parameter. */
  private code(codes: number[], i: number): number {
    const c = codes[i] ?? 0;
    if (c === 0) this.reset();
    else if (on.has(c)) this.attributes.add(c);
    else if (off.has(c)) off.get(c)?.forEach((a) => this.attributes.delete(a));
    else if (c === 39) this.fg = '';
    else if (c === 49) this.bg = '';
    else if (c === 38 || c === 48) return this.extended(codes, i);
    else if ((c >= 30 && c <= 37) || (c >= 90 && c <= 97)) this.fg = String(c);
    else if ((c >= 40 && c <= 47) || (c >= 100 && c <= 107)) this.bg = String(c);
    return i;
  }

  /** Takes 38;5;N and 38;2;R;G;B. */
  private extended(codes: number[], i: number): number {
    const length = codes[i + 1] === 5 ? 3 : codes[i + 1] === 2 ? 5 : 0;
    if (length === 0) return i + 1;
    const color = Array.from({ length }, (_, n) => codes[i + n] ?? 0).join(';');
    if (codes[i] === 38) this.fg = color;
    else this.bg = color;
    return i + length - 1;
  }

  reset(): void {
    this.attributes.clear();
    this.fg = this.bg = '';
  }

  /** The sequence that sets a terminal to this pen, with a foreground where it has none. */
  sequence(foreground = ''): string {
    return `\x1b[${['0', ...this.attributes, this.fg || foreground, this.bg].filter((p) => p !== '').join(';')}m`;
  }
}

/** A parameter without parts of its own: of colours (38:2::R:G:B) they follow, of what else has some the first counts. */
function plainly(parameter: string): string[] {
  const parts = parameter.split(':');
  if (parts[0] !== '38' && parts[0] !== '48') return parts.slice(0, 1);
  if (parts[1] === '2' && parts.length > 5) parts.splice(2, 1); // the colour space
  return parts;
}

/** Where in a sequence the filter is. */
type State = 'text' | 'escape' | 'between' | 'csi' | 'string';

/** The next character that is not plain: C0 but tab and CR, DEL, C1. */
const special = /[\x00-\x08\x0a-\x0c\x0e-\x1f\x7f-\x9f]/g;
/** The end of a control string: BEL, CAN, LF, SUB, ESC (of ST, or of what begins), C1 ST. */
const ends = /[\x07\x18\x0a\x1a\x1b\x9c]/g;
const longest = 128;

/** One stream's output, which may be cut anywhere. */
export class Filter {
  readonly pen = new Pen();
  private state: State = 'text';
  private params = '';

  constructor(
    private readonly colored: boolean,
    private readonly foreground = '',
  ) {}

  /** What of the text a terminal may get. */
  write(text: string): string {
    let out = '';
    for (let i = 0; i < text.length;) {
      if (this.state === 'text') {
        special.lastIndex = i;
        const at = special.exec(text)?.index ?? text.length;
        out += text.slice(i, at);
        i = at;
        if (i < text.length) out += this.control(text.charCodeAt(i++));
      } else if (this.state === 'string') {
        ends.lastIndex = i;
        const at = ends.exec(text)?.index;
        if (at === undefined) break;
        this.state = text[at] === '\x1b' ? 'escape' : 'text';
        if (text[at] === '\n') out += '\r\n';
        i = at + 1;
      } else {
        out += this.sequence(text, i++);
      }
    }
    return out;
  }

  /** The sequence that sets a terminal to what this stream writes with. */
  style(): string {
    return this.pen.sequence(this.foreground);
  }

  private control(c: number): string {
    if (c === 0x0a) return '\r\n';
    if (c === 0x1b) this.state = 'escape';
    else if (c === 0x9b) this.begin();
    else if (c === 0x90 || c === 0x98 || (c >= 0x9d && c <= 0x9f)) this.state = 'string';
    return '';
  }

  private begin(): string {
    this.state = 'csi';
    this.params = '';
    return '';
  }

  /** Takes one character of a sequence. What cannot belong to one ends it, and is taken as text. */
  private sequence(text: string, i: number): string {
    const c = text.charCodeAt(i);
    if (c < 0x20 || c >= 0x7f) {
      this.state = 'text';
      return this.write(text.charAt(i));
    }
    if (this.state === 'csi') return this.csi(c, text.charAt(i));
    if (this.state === 'escape' && c === 0x5b) return this.begin();
    if (this.state === 'escape' && 'PX]^_'.includes(text.charAt(i))) this.state = 'string';
    else this.state = c < 0x30 ? 'between' : 'text';
    return '';
  }

  private csi(c: number, char: string): string {
    if (c < 0x40) {
      if (this.params.length < longest) this.params += char;
      else this.params = '?';
      return '';
    }
    this.state = 'text';
    if (char !== 'm' || !/^[\d;:]*$/.test(this.params)) return '';
    this.pen.take(this.params);
    return this.colored ? this.style() : '';
  }
}
