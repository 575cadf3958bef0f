import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hasBehaviour } from './conventions.ts';
import { parseSource, readSources, root } from './sources.ts';
import { withoutTwin } from './twins.ts';

const sources = readSources('src');
const tests = globSync('test/**/*.test.ts', { cwd: root }).map((path) => path.replaceAll('\\', '/'));
const flows = tests
  .filter((path) => path.startsWith('test/flows/'))
  .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }));

/** The twin of `src/oauth/scope.ts` is `test/oauth/scope.test.ts`, or several `test/oauth/scope.<what>.test.ts`. */
function hasTwin(path: string, testPaths: readonly string[]): boolean {
  const stem = path.replace(/^src\//, 'test/').replace(/\.ts$/, '');
  return testPaths.some(
    (test) => test === `${stem}.test.ts` || (test.startsWith(`${stem}.`) && test.endsWith('.test.ts')),
  );
}

function isNamedByAFlow(path: string): boolean {
  return flows.some(({ text }) => text.includes(path));
}

describe('each source file', () => {
  it('that does anything has a twin test, or a flow test names it', () => {
    const excepted = new Set(withoutTwin.map(({ file }) => file));
    const lonely = sources
      .filter(hasBehaviour)
      .map(({ path }) => path)
      .filter((path) => !excepted.has(path) && !hasTwin(path, tests) && !isNamedByAFlow(path));
    expect(lonely).toEqual([]);
  });

  it('that a flow test names exists', () => {
    const named = flows.flatMap(({ path, text }) =>
      [...text.matchAll(/\bsrc\/[\w./-]+\.ts\b/g)].map(([file]) => ({ path, file })),
    );
    const files = new Set(globSync('src/**/*.ts', { cwd: root }).map((path) => path.replaceAll('\\', '/')));
    expect(named.filter(({ file }) => !files.has(file))).toEqual([]);
  });

  it('is excepted only while it exists, has no twin, and with a reason', () => {
    const idle = withoutTwin.filter(
      ({ file, reason }) =>
        reason.trim() === '' || !sources.some(({ path }) => path === file) || hasTwin(file, tests),
    );
    expect(idle).toEqual([]);
  });

  it('has the twin that carries its name', () => {
    expect(hasTwin('src/oauth/scope.ts', ['test/oauth/scope.test.ts'])).toBe(true);
    expect(hasTwin('src/oauth/scope.ts', ['test/oauth/scope.limits.test.ts'])).toBe(true);
    expect(hasTwin('src/oauth/scope.ts', ['test/oauth/scopes.test.ts', 'test/mcp/scope.test.ts'])).toBe(
      false,
    );
  });

  it.each([
    ['export interface A { b: string }', false],
    [
      "import type { B } from './b.ts'; export type A = B; export * from './c.ts'; export { d } from './d.ts';",
      false,
    ],
    ["declare module 'b' { export { c as default } from 'd'; }", false],
    ['export const a = 1;', true],
    ['export class A {}', true],
    ["import './a.ts'; main();", true],
  ])('with %s does something: %s', (text, does) => {
    expect(hasBehaviour(parseSource('src/a.ts', text))).toBe(does);
  });
});
