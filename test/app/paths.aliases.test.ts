import type { Context } from 'koa';
import { describe, expect, it } from 'vitest';
import { type Aliases, buildAliases, resolveAliases } from '../../src/app/paths.ts';

/** Where the aliases lead. */
const targets = (aliases: Aliases): Record<string, string> =>
  Object.fromEntries([...aliases].map(([place, { path }]) => [place, path]));

/** One server, at the public URL itself. */
const only = [{ path: '' }];

const documents = ['oauth-authorization-server', 'openid-configuration'];

describe('the aliases', () => {
  it('of an origin are where clients look for the documents, and the endpoints with a slash (A4-01, A3-03)', () => {
    const aliases = buildAliases('https://mcp.example.com', ['/token'], only);
    const expected = new Map<string, string>();
    for (const name of documents)
      for (const path of ['', '/mcp', '/sse', '/rest'].flatMap((at) => [
        `/.well-known/${name}${at}`,
        `${at}/.well-known/${name}`,
      ]))
        for (const slash of ['', '/']) expected.set(`${path}${slash}`, `/.well-known/${name}`);
    const resource = '/.well-known/oauth-protected-resource';
    for (const slash of ['', '/']) {
      expected.set(`${resource}${slash}`, `${resource}/mcp`);
      for (const at of ['/mcp', '/sse', '/rest'])
        for (const path of [`${resource}${at}`, `${at}${resource}`])
          expected.set(`${path}${slash}`, `${resource}${at}`);
    }
    for (const path of ['/token', '/mcp', '/sse', '/messages', '/rest'])
      for (const slash of ['', '/']) expected.set(`${path}${slash}`, path);
    expect(targets(aliases)).toEqual(Object.fromEntries(expected));
  });

  it.each(documents)(
    'of %s for an issuer with a path are inserted, appended and at the root (A4-10, A2-03, A2-07)',
    (name) => {
      const aliases = buildAliases('https://mcp.example.com/tools', [], only);
      const served = [...aliases].filter(([, { path }]) => path === `/tools/.well-known/${name}`);
      expect(new Set(served.map(([path]) => path).filter((path) => !path.endsWith('/')))).toEqual(
        new Set([
          `/.well-known/${name}`,
          `/.well-known/${name}/tools`,
          `/tools/.well-known/${name}`,
          `/.well-known/${name}/tools/mcp`,
          `/tools/mcp/.well-known/${name}`,
          `/.well-known/${name}/tools/sse`,
          `/tools/sse/.well-known/${name}`,
          `/.well-known/${name}/tools/rest`,
          `/tools/rest/.well-known/${name}`,
        ]),
      );
    },
  );

  it('of endpoints of an issuer with a path are at the origin as well (A2-05)', () => {
    const aliases = buildAliases('https://mcp.example.com/tools', ['/token'], only);
    for (const path of ['/token', '/token/', '/tools/token', '/tools/token/'])
      expect(aliases.get(path)?.path).toBe('/tools/token');
  });

  it('of routes are those of each, and a client that names no path means the one at the public URL (A3-03)', () => {
    const resource = '/.well-known/oauth-protected-resource';
    const leads = (routes: { path: string }[]) => targets(buildAliases('https://host.example/a', [], routes));
    const two = leads([{ path: '/notes' }, { path: '/files' }]);
    for (const route of ['notes', 'files']) {
      expect(two[`/a/${route}/mcp${resource}`]).toBe(`${resource}/a/${route}/mcp`);
      expect(two[`/a/${route}/mcp/`]).toBe(`/a/${route}/mcp`);
      expect(two[`/.well-known/oauth-authorization-server/a/${route}/sse`]).toBe(
        '/a/.well-known/oauth-authorization-server',
      );
    }
    expect(two).not.toHaveProperty([resource]);
    expect(two).not.toHaveProperty(['/a/mcp/']);
    expect(leads([{ path: '/notes' }])[resource]).toBe(`${resource}/a/notes/mcp`);
    expect(leads([{ path: '/notes' }, { path: '' }])[resource]).toBe(`${resource}/a/mcp`);
  });

  it('that follow a standard need no tolerance; each other has one, and does not exist without it', async () => {
    const aliases = buildAliases('https://mcp.example.com/tools', ['/token'], only);
    const ask = async (path: string, isOn: boolean): Promise<{ path: string; asked: string[] }> => {
      const ctx = { path } as Context;
      const asked: string[] = [];
      await resolveAliases(
        () => aliases,
        (tolerance) => {
          asked.push(tolerance);
          return isOn;
        },
      )(ctx, async () => undefined);
      return { path: ctx.path, asked };
    };
    const metadata = '/tools/.well-known/oauth-authorization-server';
    const inserted = '/.well-known/oauth-authorization-server/tools';
    expect(await ask(inserted, false)).toEqual({ path: metadata, asked: [] });
    for (const [place, tolerance, path] of [
      [`${inserted}/mcp`, 'discoveryAliases', metadata],
      [`${inserted}/`, 'trailingSlash', metadata],
      ['/token', 'defaultEndpoints', '/tools/token'],
      ['/tools/token/', 'trailingSlash', '/tools/token'],
    ] as const) {
      expect(await ask(place, true)).toEqual({ path, asked: [tolerance] });
      expect(await ask(place, false)).toEqual({ path: place, asked: [tolerance] });
    }
  });
});
