import { describe, expect, it } from 'vitest';
import {
  forbiddenImports,
  idleAllowances,
  idleDoors,
  importCircles,
  reachablePackages,
  roomOf,
} from './imports.ts';
import { nativePackages, rooms } from './rooms.ts';
import { parseSource, readSources } from './sources.ts';

const sources = readSources('src');

describe('who may import whom', () => {
  it('is kept by every file of src', () => {
    expect(sources.length).toBeGreaterThan(0);
    expect(forbiddenImports(rooms, sources)).toEqual([]);
  });

  it('has no door that is not used', () => {
    expect(idleDoors(rooms, sources)).toEqual([]);
    const table = [{ name: 'oauth', may: [], doors: ['oauth/a.ts', 'oauth/b.ts'] }];
    const inside = parseSource('src/oauth/c.ts', "import './a.ts';");
    expect(idleDoors(table, [inside, parseSource('src/net/d.ts', "import '../oauth/b.ts';")])).toEqual([
      'oauth/a.ts',
    ]);
  });

  it('allows nothing that no file needs', () => {
    expect(idleAllowances(rooms, sources)).toEqual([]);
    const table = [
      { name: 'oauth', may: [] },
      { name: 'net', may: ['oauth', 'mcp'], except: [{ file: 'net/a.ts', may: ['mcp'], reason: '' }] },
      { name: 'mcp', may: [] },
    ];
    expect(idleAllowances(table, [parseSource('src/net/d.ts', "import '../oauth/b.ts';")])).toEqual([
      'net may import mcp',
      'src/net/a.ts may import mcp',
    ]);
  });

  it('has one row for each room that has files, and each row names rooms that exist', () => {
    const names = rooms.map(({ name }) => name);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    const named = rooms.flatMap(({ may, mayTypesOf = [] }) => [...may, ...mayTypesOf]);
    expect(named.filter((name) => !names.includes(name))).toEqual([]);
    const kept = new Set(sources.map(({ path }) => roomOf(rooms, path)?.name));
    expect(names.filter((name) => !kept.has(name))).toEqual([]);
    const paths = new Set(sources.map(({ path }) => path));
    const excepted = rooms.flatMap(({ except = [] }) => except.map(({ file }) => `src/${file}`));
    expect(excepted.filter((path) => !paths.has(path))).toEqual([]);
  });

  it.each([
    [
      'src/mcp/endpoint.ts',
      "import { a } from '../authorization-server/a.ts';",
      'mcp may not import authorization-server',
    ],
    ['src/mcp/sessions.ts', "import type Koa from 'koa';", 'mcp never imports koa'],
    ['src/oauth/pkce.ts', "export { b } from '../crypto/secret.ts';", 'oauth may not import crypto'],
    ['src/oauth/pkce.ts', "const fs = await import('node:fs');", 'oauth never imports node:fs'],
    ['src/client/token.ts', "type S = import('../storage/port.ts').S;", 'client may not import storage'],
    ['src/client/token.ts', "import './node/loopback.ts';", 'client may not import client/node'],
    ['src/mcp/notes/a.ts', "import { type N, n } from '../../storage/storage.ts';", 'only types of storage'],
    ['src/cli/main.ts', "export * from '../mcp/endpoint.ts';", 'cli may not import mcp'],
    ['src/gateway/a.ts', "import '../mcp/endpoint.ts';", 'gateway imports mcp past its doors'],
    [
      'src/composition/a.ts',
      "import type { E } from '../mcp/endpoint.ts';",
      'composition imports mcp past its doors',
    ],
    ['src/oauth/a.ts', "import '../support/a.ts';", 'stands in no room'],
    ['src/shed/a.ts', '', 'stands in no room'],
  ])('catches %s with %s', (path, text, sentence) => {
    const [found, ...more] = forbiddenImports(rooms, [parseSource(path, text)]);
    expect(found).toContain(sentence);
    expect(more).toEqual([]);
  });

  it.each([
    ['src/mcp/endpoint.ts', "import Koa from 'koa';"],
    ['src/gateway/a.ts', "import { isRecord } from '../mcp/protocol.ts';"],
    ['src/mcp/notes/a.ts', "import type { NoteStore } from '../../storage/storage.ts';"],
    ['src/mcp/notes/a.ts', "export { type NoteStore } from '../../storage/storage.ts';"],
    ['src/client/node/loopback.ts', "import { createServer } from 'node:http'; import '../token.ts';"],
    ['src/oauth/pkce.ts', "// import fs from 'node:fs'\nexport const text = \"import '../crypto/a.ts'\";"],
  ])('allows %s with %s', (path, text) => {
    expect(forbiddenImports(rooms, [parseSource(path, text)])).toEqual([]);
  });

  it('refuses an import that only the running program could name', () => {
    expect(() => parseSource('src/cli/main.ts', 'await import(name);')).toThrow('name the module literally');
  });
});

describe('private members of dependencies', () => {
  const engineInternals = 'src/authorization-server/engine/engine-internals.ts';

  it('are imported from the engine in one file', () => {
    const inside = sources.filter(({ imports }) =>
      imports.some(({ to }) => to.startsWith('oidc-provider/lib')),
    );
    expect(inside.map(({ path }) => path)).toEqual([engineInternals]);
  });

  it('are read of no other object: a name that begins with an underscore is none of ours', () => {
    const found = sources.flatMap(({ path, text }) => {
      const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      return [...code.matchAll(/\.(_(?!meta\b)\w+)|\[['"]_(?!meta['"])/g)].map(
        ([name]) => `${path}: ${name}`,
      );
    });
    expect(found).toEqual([]);
  });
});

describe('circles', () => {
  it('do not exist in src', () => {
    expect(importCircles(sources)).toEqual([]);
  });

  it('are caught, over types too', () => {
    const files = [
      parseSource('src/oauth/a.ts', "import './b.ts';"),
      parseSource('src/oauth/b.ts', "import type { C } from './c.ts'; import './d.ts';"),
      parseSource('src/oauth/c.ts', "export * from './a.ts';"),
      parseSource('src/oauth/d.ts', ''),
    ];
    expect(importCircles(files)).toEqual([
      'src/oauth/a.ts -> src/oauth/b.ts -> src/oauth/c.ts -> src/oauth/a.ts',
    ]);
  });
});

describe('heavy modules', () => {
  const loadedBy = (isStart: (path: string) => boolean) => [...reachablePackages(sources, isStart).keys()];

  it('with native code are not reachable from the client', () => {
    const native = loadedBy((path) => path.startsWith('src/client/')).filter((name) =>
      nativePackages.some((one) => one === name),
    );
    expect(native).toEqual([]);
  });

  it('of PostgreSQL are not loaded by a user of SQLite', () => {
    const starts = loadedBy((path) => path === 'src/index.ts' || path.startsWith('src/storage/sqlite/'));
    expect(starts).not.toContain('pg');
  });

  it('and of the server are not loaded by the commands of an operator, which are over in half a second', () => {
    const operates = /^src\/cli\/commands\/operator\//;
    expect(sources.filter(({ path }) => operates.test(path))).toHaveLength(12);
    const loaded = loadedBy((path) => operates.test(path));
    expect(
      ['oidc-provider', 'koa', '@modelcontextprotocol/server'].filter((one) => loaded.includes(one)),
    ).toEqual([]);
    expect(loaded).toContain('better-sqlite3');
  });

  it('of MCP clients are not loaded by a server: its remote backends have a client of their own', () => {
    const loaded = loadedBy((path) => path === 'src/cli/commands/server/serve.ts');
    expect(loaded).toContain('@modelcontextprotocol/server');
    expect(loaded).not.toContain('@modelcontextprotocol/client');
  });

  it('are found through other files, and not through types', () => {
    const files = [
      parseSource('src/client/a.ts', "import '../oauth/b.ts'; import type { D } from '../oauth/d.ts';"),
      parseSource('src/oauth/b.ts', "import { hash } from '@node-rs/argon2/wasm';"),
      parseSource('src/oauth/d.ts', "import 'pg';"),
    ];
    const found = reachablePackages(files, (path) => path.startsWith('src/client/'));
    expect([...found]).toEqual([['@node-rs/argon2', 'src/oauth/b.ts']]);
  });
});
