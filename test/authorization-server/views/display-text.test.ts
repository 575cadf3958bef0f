import { describe, expect, it } from 'vitest';
import { displayText, maxDisplayCharacters } from '../../../src/authorization-server/views/display-text.ts';

describe('displayText', () => {
  it('leaves ordinary names of many scripts as they are', () => {
    for (const name of [
      'Claude Code',
      'Łódź – notes',
      'Ünïcode',
      'שלום',
      'เอกสาร',
      'मेरा ऐप',
      '日本語アプリ',
      'App 🚀',
    ]) {
      expect(displayText(name)).toBe(name.normalize('NFC'));
    }
  });

  it('composes to NFC, also where an invisible character stood between letter and mark (T-060)', () => {
    expect(displayText('Cafe\u0301')).toBe('Café');
    expect(displayText('Cafe\u200B\u0301')).toBe('Café');
  });

  it('strips bidi controls, so that text cannot be reversed (T-060)', () => {
    for (const bidi of '\u061C\u200E\u200F\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069') {
      expect(displayText(`good${bidi}evil`)).toBe('goodevil');
    }
  });

  it('strips zero-width, filler, tag and variation characters (T-060)', () => {
    for (const invisible of [
      '\u00AD',
      '\u034F',
      '\u115F',
      '\u200B',
      '\u200D',
      '\u2060',
      '\u3164',
      '\uFE0F',
      '\uFEFF',
      '\uFFA0',
      '\u{E0041}',
    ]) {
      expect(displayText(`Cl${invisible}aude`)).toBe('Claude');
    }
  });

  it('strips control characters, private-use characters and lone surrogates', () => {
    expect(displayText('a\u0000b\u001B[31mc\u009Fd\uE000e\uD800f')).toBe('ab[31mcdef');
  });

  it('puts everything on one line with single spaces', () => {
    expect(displayText('  a\r\n\tb\u2028c\u00A0\u2800 d\u3000 ')).toBe('a b c d');
  });

  it('keeps at most three combining marks in a row and none without a letter (T-060)', () => {
    expect(displayText(`q${'\u0334'.repeat(500)}x`)).toBe('q\u0334\u0334\u0334x');
    expect(displayText('\u0336\u0335name \u0336\u0335b')).toBe('name b');
  });

  it('cuts a 10 KB name to 100 characters and says so with an ellipsis (T-060)', () => {
    const cut = displayText('n'.repeat(10_240));
    expect(cut).toBe(`${'n'.repeat(maxDisplayCharacters - 1)}…`);
    expect(displayText('n'.repeat(maxDisplayCharacters))).toBe('n'.repeat(maxDisplayCharacters));
  });

  it('counts characters, not code units, and never cuts one in half', () => {
    const cut = displayText('🚀'.repeat(200));
    expect([...cut]).toHaveLength(maxDisplayCharacters);
    expect(cut.isWellFormed()).toBe(true);
  });

  it('cuts to the length that is asked for', () => {
    expect(displayText('one two three', 5)).toBe('one…');
  });

  it('gives empty text when nothing visible is left', () => {
    expect(displayText('\u202E\u200B \u0000\u0301')).toBe('');
  });

  it('gives the same text when applied twice', () => {
    const once = displayText(`\u0301 \u200Ba${'\u0301'.repeat(9)} \u0301\u0301 ${'z'.repeat(300)}`);
    expect(displayText(once)).toBe(once);
  });
});
