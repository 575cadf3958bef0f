import { describe, expect, it } from 'vitest';
import { formatJson, formatTable, printable, printableLine } from '../../src/cli/output.ts';

describe('a text of others on a terminal', () => {
  it.each([
    ['colours', '\u001b[31mred\u001b[0m', 'red'],
    ['a cursor movement', 'a\u001b[2J\u001b[1;1Hb', 'ab'],
    ['a hyperlink', '\u001b]8;;https://evil\u001b\\click\u001b]8;;\u001b\\', 'click'],
    ['a title', '\u001b]0;owned\u0007a', 'a'],
    ['a clipboard write that never ends', 'a\u001b]52;c;AAAA', 'a'],
    ['8-bit sequences', 'a\u009b31mb\u009d0;x\u009cc', 'abc'],
    ['a device control string', 'a\u001bPq#0\u001b\\b', 'ab'],
    ['a reset', '\u001bcx', 'x'],
    ['a lone escape', 'a\u001b', 'a'],
    ['backspaces', 'safe\b\b\b\bevil', 'safeevil'],
    ['carriage returns', 'one\rtwo\r\nthree', 'one\ntwo\nthree'],
    ['bidi overrides', 'a\u202eb\u2066c\u200fd\u061ce', 'abcde'],
    ['invisible characters', 'a\u200bb\ufeffc\u2060d\u00ade', 'abcde'],
    ['tag characters', 'a\u{e0041}\u{e007f}b', 'ab'],
    ['NUL and DEL', 'a\0b\x7fc', 'abc'],
  ])('loses %s (T-190)', (_, text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('keeps lines, tabs, other scripts and emoji', () => {
    const text = 'a\tb\nZürich – 東京 – שלום – 👩‍🚀'.replace('\u200d', '');
    expect(printable(text)).toBe(text);
  });

  it('is one line in a cell', () => {
    expect(printableLine(' a\n b\t\u001b[1mc ')).toBe('a b c');
  });

  it('is escaped in JSON, and means the same there (T-190)', () => {
    const value = { a: '\u001b[31m\u009b\u202e\u200b\u007f\u{e0041} é 👩' };
    const text = formatJson(value);
    for (const bad of ['\u001b', '\u009b', '\u202e', '\u200b', '\u007f', '\u{e0041}'])
      expect(text).not.toContain(bad);
    expect(text).toContain('é 👩');
    expect(JSON.parse(text)).toEqual(value);
  });
});

describe('a table', () => {
  it('has aligned columns and no white space at line ends', () => {
    expect(
      formatTable([
        ['NAME', 'ARGUMENTS'],
        ['a', ''],
        ['longer', 'x: string'],
      ]),
    ).toBe('NAME    ARGUMENTS\na\nlonger  x: string\n');
  });
});
