import { expect, it } from 'vitest';
import { mark, symbol, wrapped } from '../../../../src/cli/commands/doctor/report-style.ts';

const look = { paint: (style: string, text: string) => `<${style}>${text}`, width: 80 };

it('a verdict is a symbol and a word, so that no colour is needed to read it', () => {
  expect(mark('warn', look)).toBe('<yellow>! warn   ');
  expect(symbol('fail', look)).toBe('<red>✗');
});

it('a text is broken between words, begins each line at its column, and holds no escape sequence (T-190)', () => {
  const text = wrapped(`${'word '.repeat(12)}\u001b[2Jend`, 10, 40);
  expect(text).not.toContain('\u001b');
  for (const line of text.split('\n').slice(1)) expect(line).toMatch(/^ {10}\S.{0,29}$/);
});
