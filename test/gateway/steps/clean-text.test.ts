import { describe, expect, it } from 'vitest';
import { cleanText, isUnclean } from '../../../src/gateway/steps/clean-text.ts';
import { patience } from '../../support/patience.ts';

const tags = [...'ignore'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');

describe('a text', () => {
  it.each([
    ['colours', 'a \u001b[31;1mred\u001b[0m b', 'a red b'],
    ['links of terminals', 'x\u001b]8;;https://evil.example\u0007click\u001b]8;;\u0007y', 'xclicky'],
    ['eight-bit sequences', 'a\u009b2Jb', 'ab'],
    ['half a sequence', 'a\u001b', 'a'],
    ['overrides of direction', 'safe\u202egnp.exe\u202c', 'safegnp.exe'],
    ['isolates', '\u2066a\u2069', 'a'],
    ['characters of no width', 'a\u200bb\u2060c\ufeffd', 'abcd'],
    ['tags', `Adds.${tags}`, 'Adds.'],
    ['hidden variation selectors', 'a\u{e0101}\u{e01ef}', 'a'],
    ['bells and backspaces', 'a\u0007b\u0008', 'ab'],
  ])('loses %s (T-160)', (_what, text, clean) => {
    expect(cleanText(text)).toBe(clean);
    expect(isUnclean(text)).toBe(true);
  });

  it.each([
    'Two\nlines\tand a tab',
    'naïve, 日本語, עברית\u200f, نص',
    'family 👨\u200d👩\u200d👧 ❤\ufe0f',
    'क्\u200dष',
  ])('keeps what scripts need: %j', (text) => {
    expect(cleanText(text)).toBe(text);
  });

  it('takes no time, however it is made (T-147)', () => {
    const startedMs = performance.now();
    for (const start of ['\u001b]', '\u001b[', '\u009b0;']) cleanText(start.repeat(100_000));
    cleanText(`\u001b]${'x'.repeat(1_000_000)}`);
    expect(performance.now() - startedMs).toBeLessThan(patience(2000));
  });

  it('that is a name may have no line ends either', () => {
    expect([isUnclean('a\nb'), isUnclean('a b'), isUnclean('lire-œuvre')]).toEqual([true, false, false]);
  });
});
