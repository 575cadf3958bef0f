import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { anyTypes, fixedHeaderReads, hasEmptyName } from './conventions.ts';
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

describe('headers of requests', () => {
  it('are read by headerOf in the MCP front, not by fixed names', () => {
    expect(readSources('src/mcp').flatMap(fixedHeaderReads)).toEqual([]);
  });

  it.each([
    ['export const a = (headers: H) => headers.accept;', 1],
    ["export const a = ({ headers }: R) => headers['mcp-method'];", 1],
    ['export function a(request: R) { const { accept } = request.headers; return accept; }', 1],
    ['export function a({ accept }: IncomingHttpHeaders) { return accept; }', 1],
    ["export const a = (headers: H, name: string) => [headers[name], headerOf(headers, 'accept')];", 0],
  ])('are found in %s: %i', (text, count) => {
    expect(fixedHeaderReads(parseSource('src/mcp/a.ts', text))).toHaveLength(count);
  });
});
