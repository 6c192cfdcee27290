import assert from 'node:assert/strict';
import test from 'node:test';
import { Filter } from '../src/ansi';

const plain = (text: string): string => new Filter(true).write(text);

test('nothing but text, tabs, line ends and SGR passes', () => {
  for (const [text, want] of [
    ['plain ä☃😀', 'plain ä☃😀'],
    ['a\tb\nc\r\nd\re', 'a\tb\r\nc\r\r\nd\re'],
    ['\x1b[31mred\x1b[0m x', '\x1b[0;31mred\x1b[0m x'],
    ['\x1b[1;38;5;208mo\x1b[22;39mp', '\x1b[0;1;38;5;208mo\x1b[0mp'],
    ['\x1b[38;2;1;2;300mo', '\x1b[0;38;2;1;2;255mo'],
    ['\x1b[4:3mx\x1b[48;5mx', '\x1b[0;4mx\x1b[0;4;48;5;0mx'],
    ['\x1b[38:2::1:2:3mx\x1b[38:5:9mx', '\x1b[0;38;2;1;2;3mx\x1b[0;38;5;9mx'],
    ['\x1b[5;8mx', '\x1b[0mx'],
    ['\x1b]0;title\x07t', 't'],
    ['\x1b]52;c;cm0gLXJm\x1b\\t', 't'],
    ['\x1b]8;;command:x\x1b\\link\x1b]8;;\x1b\\', 'link'],
    ['\x1bPq#0\x1b\\t\x1b_G\x1b\\u\x1b^x\x1b\\v\x1bXx\x1b\\w', 'tuvw'],
    ['\x1b[2J\x1b[H\x1b[?1049h\x1b[999;1Hx\x1b[6n\x1b[>4;2m\x1b[?25lx', 'xx'],
    ['\x1b(Bx\x1bcy\x1b>z\x1b#8', 'xyz'],
    ['\x9b31mx\x9d0;t\x07y\x90q\x9cz', '\x1b[0;31mxyz'],
    ['a\bb\0c\x7fd\x07\x0b\x0ce', 'abcde'],
    ['cut \x1b[3', 'cut '],
    ['cut \x1b]0;never closed\nnext', 'cut \r\nnext'],
    ['\x1b[\x01mx', 'mx'],
    ['\x1b[12☃x', '☃x'],
    ['\x1b\x1b[31mx', '\x1b[0;31mx'],
    ['\x1b]0;a\x1b[31mx', '\x1b[0;31mx'],
    [`\x1b[${'1;'.repeat(500)}mx`, 'x'],
    ['\ufffd\ufffd', '\ufffd\ufffd'],
  ] as const)
    assert.deepEqual([text, plain(text)], [text, want]);
});

test('it makes the same of a text however it is cut', () => {
  const text = 'one\n\x1b[1;31mtwo\x1b]0;t\x07\nthree\x1b[0m ☃\x1b(B\x9b4mx\x1bP1\x1b\\y\x1b[2J';
  for (let size = 1; size < text.length; size++) {
    const filter = new Filter(true);
    let out = '';
    for (let i = 0; i < text.length; i += size) out += filter.write(text.slice(i, i + size));
    assert.equal(out, plain(text));
  }
});

test('what comes out of anything is harmless', () => {
  const parts = [
    '\x1b',
    '[',
    ']',
    'P',
    ';',
    '3',
    '1',
    'm',
    'H',
    '\x9b',
    '\x9d',
    '\x07',
    '\n',
    'x',
    '?',
    '\\',
    ' ',
    '\x18',
  ];
  let seed = 7;
  const next = (): number => (seed = (seed * 1103515245 + 12345) % 2147483648);
  for (let n = 0; n < 20_000; n++) {
    const text = Array.from({ length: 12 }, () => parts[next() % parts.length]).join('');
    const left = plain(text).replace(/\x1b\[0[\d;]*m/g, '');
    assert.doesNotMatch(left, /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/, JSON.stringify(text));
  }
});

test('colours can be left out, and a stream has one of its own', () => {
  assert.equal(new Filter(false).write('\x1b[31mred'), 'red');
  const filter = new Filter(true, '31');
  assert.deepEqual([filter.style(), filter.write('\x1b[1mx\x1b[32my')], ['\x1b[0;31m', '\x1b[0;1;31mx\x1b[0;1;32my']);
});
