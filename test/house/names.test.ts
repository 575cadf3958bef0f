import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { anyTypes, hasEmptyName } from './conventions.ts';
import { parseSource, readSources, root } from './sources.ts';

describe('names', () => {
  it('of files and folders say something', () => {
    const folders = ['src', 'test', 'scripts', 'migrations', 'config', 'bench'];
    const paths = globSync(
      folders.map((folder) => `${folder}/**`),
      { cwd: root, exclude: ['**/node_modules'] },
    );
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.map((path) => path.replaceAll('\\', '/')).filter(hasEmptyName)).toEqual([]);
  });

  it.each([
    ['src/utils/a.ts', true],
    ['src/mcp/helpers.ts', true],
    ['test/misc.test.ts', true],
    ['src/authorization-server/service.ts', true],
    ['src/oauth/auth-info.ts', false],
    ['src/mcp/tool-service.ts', false],
  ])('judge %s by whole names: %s', (path, empty) => {
    expect(hasEmptyName(path)).toBe(empty);
  });
});

describe('types', () => {
  it('are never any', () => {
    expect(
      [...readSources('src'), ...readSources('test'), ...readSources('bench')].flatMap(anyTypes),
    ).toEqual([]);
  });

  it('are caught as any in every position, and not inside words or texts', () => {
    const text =
      "const a: any = 'any';\nfunction anything(x: Record<string, any>) {}\nlet b = a as any; // any";
    expect(anyTypes(parseSource('src/a.ts', text))).toEqual(['src/a.ts:1', 'src/a.ts:2', 'src/a.ts:3']);
  });
});
