import { describe, expect, it } from 'vitest';
import { type Palette, palettes, style } from '../../../src/authorization-server/views/style.ts';

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const textPairs: [keyof Palette, keyof Palette][] = [
  ['text', 'card'],
  ['text', 'field'],
  ['muted', 'card'],
  ['muted', 'page'],
  ['accent', 'card'],
  ['onAccent', 'accent'],
  ['onCaution', 'caution'],
  ['onProblem', 'problem'],
];
const controlPairs: [keyof Palette, keyof Palette][] = [
  ['fieldLine', 'card'],
  ['onProblem', 'card'],
  ['focus', 'card'],
  ['accent', 'page'],
];

describe('the stylesheet', () => {
  for (const [scheme, palette] of Object.entries(palettes)) {
    it(`gives text at least 4.5:1 contrast in the ${scheme} scheme (WCAG 1.4.3)`, () => {
      for (const [ink, ground] of textPairs) {
        expect(contrast(palette[ink], palette[ground]), `${ink} on ${ground}`).toBeGreaterThanOrEqual(4.5);
      }
    });

    it(`gives borders, marks and focus rings at least 3:1 contrast in the ${scheme} scheme (WCAG 1.4.11)`, () => {
      for (const [ink, ground] of controlPairs) {
        expect(contrast(palette[ink], palette[ground]), `${ink} on ${ground}`).toBeGreaterThanOrEqual(3);
      }
    });
  }

  it('loads nothing and holds nothing that could end its element (T-198)', () => {
    expect(style).not.toMatch(/url\(|@import|</);
  });

  it('uses only colours that both palettes define', () => {
    const used = [...style.matchAll(/var\(--([A-Za-z]+)\)/g)].map(([, name]) => name);
    expect(used.length).toBeGreaterThan(10);
    for (const name of used) {
      expect(palettes.light).toHaveProperty([String(name)]);
      expect(palettes.dark).toHaveProperty([String(name)]);
    }
  });
});
