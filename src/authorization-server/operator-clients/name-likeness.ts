/** Letters of other scripts, and digits, that look like Latin letters in the fonts of browsers (UTS #39, the commonest of its data). */
const lookalikes: Readonly<Record<string, string>> = {
  а: 'a',
  ɑ: 'a',
  α: 'a',
  в: 'b',
  β: 'b',
  с: 'c',
  ϲ: 'c',
  ԁ: 'd',
  е: 'e',
  ε: 'e',
  ɡ: 'g',
  һ: 'h',
  н: 'h',
  і: 'i',
  ι: 'i',
  ı: 'i',
  ј: 'j',
  к: 'k',
  κ: 'k',
  м: 'm',
  μ: 'm',
  п: 'n',
  ո: 'n',
  η: 'n',
  ν: 'v',
  о: 'o',
  ο: 'o',
  σ: 'o',
  р: 'p',
  ρ: 'p',
  ԛ: 'q',
  г: 'r',
  ѕ: 's',
  т: 't',
  τ: 't',
  υ: 'u',
  ս: 'u',
  ѵ: 'v',
  ԝ: 'w',
  ω: 'w',
  х: 'x',
  χ: 'x',
  у: 'y',
  γ: 'y',
  ʏ: 'y',
  0: 'o',
  1: 'l',
  i: 'l',
  '|': 'l',
  '!': 'l',
  5: 's',
  $: 's',
  3: 'e',
  '@': 'a',
};

/**
 * Gives what of a name stays when it is only glanced at: lower case, no marks, no blanks and signs, letters that look alike
 * made one. Two names with the same outcome can be taken for each other (T-060).
 * @param name any text
 */
export function glancedName(name: string): string {
  const letters = [...name.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '')];
  const once = letters
    .map((letter) => lookalikes[letter] ?? letter)
    .map((letter) => lookalikes[letter] ?? letter);
  return once
    .join('')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}
