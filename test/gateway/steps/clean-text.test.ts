import { describe, expect, it } from 'vitest';
import { cleanText, hasUnseen, isUnclean } from '../../../src/gateway/steps/clean-text.ts';
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
    ['rows of selectors', 'a\u2764\ufe01\ufe02', 'a\u2764'],
    ['rows of joiners and marks', 'é\u200c\u200d\u200cé\u200f\u200e\u200f', 'éé'],
    ['joiners and selectors within a word', 're\u200dad\ufe0fy', 'ready'],
    ['empty letters', 'a\u3164b\u115f\u17b4', 'ab'],
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
    'PDF\u200cها, C++\u200e',
  ])('keeps what scripts need: %j', (text) => {
    expect(cleanText(text)).toBe(text);
  });

  it.each([
    ['read\u200c', true],
    ['\u200eread', true],
    ['a \u200d b', true],
    ['read\ufe0f', true],
    ['1\ufe0f\u20e3', false],
    ['👩\u200d🚀', false],
    ['می\u200cروم', false],
  ])('that is a value or name looks like no other: %j (FA-08, T-211)', (value, unclean) => {
    expect([hasUnseen(value), isUnclean(value)]).toEqual([unclean, unclean]);
  });

  it('takes no time, however it is made (T-147)', () => {
    const startedMs = performance.now();
    for (const start of ['\u001b]', '\u001b[', '\u009b0;', 'a\u200d', '\u200d', '\ufe0f'])
      for (const read of [cleanText, isUnclean]) read(start.repeat(100_000));
    cleanText(`\u001b]${'x'.repeat(1_000_000)}`);
    expect(performance.now() - startedMs).toBeLessThan(patience(2000));
  });

  it('that is a name may have no line ends either', () => {
    expect([isUnclean('a\nb'), isUnclean('a b'), isUnclean('lire-œuvre')]).toEqual([true, false, false]);
  });
});
