import { describe, expect, it } from 'vitest';
import { canonicalResource, resourceCovers } from '../../src/oauth/resource-indicator.ts';
import { patience } from '../support/patience.ts';

describe('a canonical resource', () => {
  it.each([
    ['https://x.example/mcp', 'https://x.example/mcp'],
    ['HTTPS://X.Example/mcp', 'https://x.example/mcp'],
    ['https://x.example/mcp/', 'https://x.example/mcp'],
    ['https://x.example/mcp//', 'https://x.example/mcp//'],
    ['https://x.example//', 'https://x.example//'],
    ['https://x.example/mcp//?a', 'https://x.example/mcp//?a'],
    ['https://x.example/', 'https://x.example'],
    ['https://x.example:443/mcp', 'https://x.example/mcp'],
    ['http://x.example:80/mcp', 'http://x.example/mcp'],
    ['https://x.example:8443/mcp', 'https://x.example:8443/mcp'],
    ['https://x.example/a/../mcp', 'https://x.example/mcp'],
    ['https://x.example/mcp?tenant=a', 'https://x.example/mcp?tenant=a'],
    ['https://x.example/mcp/?tenant=a/', 'https://x.example/mcp?tenant=a/'],
    ['https://x.example/mcp?', 'https://x.example/mcp'],
    ['http://[0:0:0:0:0:0:0:1]:3000/mcp', 'http://[::1]:3000/mcp'],
  ])('of %s is %s (A7-02)', (value, canonical) => {
    expect(canonicalResource(value)).toBe(canonical);
    expect(canonicalResource(canonical)).toBe(canonical);
  });

  it.each([
    ['path', 'https://x.example/MCP'],
    ['scheme', 'http://x.example/mcp'],
    ['host', 'https://x.example.evil/mcp'],
    ['port', 'https://x.example:8443/mcp'],
    ['query', 'https://x.example/mcp?a'],
    ['escape', 'https://x.example/mcp%2F'],
  ])('differs with another %s: %s', (_part, value) => {
    expect(canonicalResource(value)).not.toBe('https://x.example/mcp');
  });

  it.each([
    '',
    'mcp',
    '/mcp',
    '//x.example/mcp',
    'x.example/mcp',
    'urn:example:mcp',
    'ftp://x.example/mcp',
    'javascript:alert(1)',
    'https://',
    'https://x.example:99999/mcp',
    'https://x.example/mcp#top',
    'https://x.example/mcp#',
    'https://ann@x.example/mcp',
    'https://:secret@x.example/mcp',
  ])('does not exist for %j', (value) => {
    expect(canonicalResource(value)).toBeUndefined();
  });

  it('takes time linear in the slashes of its path', () => {
    const path = `${'/'.repeat(200_000)}mcp`;
    const start = performance.now();
    expect(canonicalResource(`https://x.example${path}`)).toBe(`https://x.example${path}`);
    expect(performance.now() - start).toBeLessThan(patience(1_000));
  });
});

describe('metadata for a resource', () => {
  it.each([
    ['https://x.example/mcp', 'https://x.example/mcp'],
    ['https://x.example/mcp/', 'https://x.example/mcp'],
    ['https://x.example/mcp', 'https://x.example/mcp/'],
    ['https://x.example', 'https://x.example/mcp'],
    ['https://x.example/', 'https://x.example/mcp'],
    ['https://x.example/a', 'https://x.example/a/mcp'],
    ['https://x.example/mcp', 'https://x.example/mcp?tenant=a'],
    ['https://x.example', 'https://x.example/?tenant=a'],
    ['https://x.example/mcp?tenant=a', 'https://x.example/mcp?tenant=a'],
    ['HTTPS://X.EXAMPLE:443/mcp', 'https://x.example/mcp'],
  ])('at %s may be used for calls to %s (A3-07)', (resource, url) => {
    expect(resourceCovers(resource, url)).toBe(true);
  });

  it.each([
    ['a child', 'https://x.example/mcp/a', 'https://x.example/mcp'],
    ['a sibling', 'https://x.example/a', 'https://x.example/b'],
    ['a name that only begins alike', 'https://x.example/mcp', 'https://x.example/mcp2'],
    ['another case of the path', 'https://x.example/MCP', 'https://x.example/mcp'],
    ['a path that climbs out', 'https://x.example/a', 'https://x.example/a/../b'],
    ['another host', 'https://y.example/mcp', 'https://x.example/mcp'],
    ['a longer host', 'https://x.example', 'https://x.example.evil/mcp'],
    ['another scheme', 'http://x.example/mcp', 'https://x.example/mcp'],
    ['another port', 'https://x.example:8443/mcp', 'https://x.example/mcp'],
    ['another query', 'https://x.example/mcp?tenant=a', 'https://x.example/mcp?tenant=b'],
    ['a query the call lacks', 'https://x.example/mcp?tenant=a', 'https://x.example/mcp'],
    ['a query that only begins alike', 'https://x.example/mcp?a', 'https://x.example/mcp?a/b'],
    ['a parent with a query', 'https://x.example/?tenant=a', 'https://x.example/mcp?tenant=a'],
    ['a fragment', 'https://x.example/mcp#a', 'https://x.example/mcp'],
    ['userinfo', 'https://ann@x.example/mcp', 'https://x.example/mcp'],
    ['an opaque origin', 'urn:x', 'urn:x/mcp'],
    ['no URL', 'mcp', 'https://x.example/mcp'],
  ])('with %s is for another server: %s, %s (A3-07)', (_why, resource, url) => {
    expect(resourceCovers(resource, url)).toBe(false);
  });
});
