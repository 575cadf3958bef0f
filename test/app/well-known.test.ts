import { describe, expect, it } from 'vitest';
import { buildAliases } from '../../src/app/well-known.ts';

const documents = ['oauth-authorization-server', 'openid-configuration'];

describe('the aliases', () => {
  it('of an origin are where clients look for the documents, and the endpoints with a slash (A4-01, A3-03)', () => {
    const aliases = buildAliases('https://mcp.example.com', ['/token']);
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
    for (const path of ['/token', '/token/']) expected.set(path, '/token');
    expect(Object.fromEntries(aliases)).toEqual(Object.fromEntries(expected));
  });

  it.each(documents)(
    'of %s for an issuer with a path are inserted, appended and at the root (A4-10, A2-03, A2-07)',
    (name) => {
      const aliases = buildAliases('https://mcp.example.com/tools', []);
      const served = [...aliases].filter(([, target]) => target === `/tools/.well-known/${name}`);
      expect(served.map(([path]) => path).filter((path) => !path.endsWith('/'))).toEqual([
        `/.well-known/${name}`,
        `/.well-known/${name}/tools`,
        `/tools/.well-known/${name}`,
        `/.well-known/${name}/tools/mcp`,
        `/tools/mcp/.well-known/${name}`,
        `/.well-known/${name}/tools/sse`,
        `/tools/sse/.well-known/${name}`,
        `/.well-known/${name}/tools/rest`,
        `/tools/rest/.well-known/${name}`,
      ]);
    },
  );

  it('of endpoints of an issuer with a path are at the origin as well (A2-05)', () => {
    const aliases = buildAliases('https://mcp.example.com/tools', ['/token']);
    for (const path of ['/token', '/token/', '/tools/token', '/tools/token/'])
      expect(aliases.get(path)).toBe('/tools/token');
  });
});
