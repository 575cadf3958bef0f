import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exportedNames, exportsDefault, functionsWithoutDocstring } from './conventions.ts';
import { publicSurface } from './public-surface.ts';
import { parseSource, readSources, root } from './sources.ts';

const sources = readSources('src');

describe('exports', () => {
  it('are named, never default', () => {
    expect(sources.filter(exportsDefault).map(({ path }) => path)).toEqual([]);
  });

  it.each([
    'export default 1;',
    'const a = 1; export { a as default };',
    "export { default } from './a.ts';",
  ])('catch the default export in %s', (text) => {
    expect(exportsDefault(parseSource('src/oauth/a.ts', text))).toBe(true);
  });

  it('have a docstring on each function', () => {
    expect(sources.flatMap(functionsWithoutDocstring)).toEqual([]);
  });

  it('catch a function without a docstring, however it is exported', () => {
    const text = [
      '/** Not a neighbour. */',
      'const one = 1;',
      'export function a() {}',
      'export const b = () => one;',
      'function c() {}',
      '// A line is not a docstring.',
      'export function d() {}',
      '/** A docstring. */',
      'export function e(x: string): void;',
      'export function e(x: number): void;',
      'export function e() {}',
      'function inside() {}',
      'export { c, inside as f };',
    ].join('\n');
    expect(functionsWithoutDocstring(parseSource('src/oauth/a.ts', text))).toEqual(
      ['a', 'b', 'd', 'c', 'inside'].map((name) => `src/oauth/a.ts: ${name}`),
    );
  });
});

describe('the public surface', () => {
  it.each(Object.entries(publicSurface))('of %s is exactly what is listed', (path, names) => {
    const entry = sources.find((source) => source.path === path);
    expect(entry, `${path} is missing`).toBeDefined();
    expect(entry && exportedNames(entry)).toEqual([...names].sort());
  });

  it('has a source file behind each entry of package.json', () => {
    const { exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
      exports: Record<string, string | { types: string }>;
    };
    const entries = Object.values(exports).flatMap((entry) =>
      typeof entry === 'string' ? [] : [entry.types],
    );
    const files = entries.map((file) =>
      file.replace(/^\.\/dist\/types\//, 'src/').replace(/\.d\.ts$/, '.ts'),
    );
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !sources.some(({ path }) => path === file))).toEqual([]);
  });
});
