import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/doctor/ask.ts';
import { documentOf, findProxies, isPage, judgeUnanswered } from '../../../src/doctor/proxy/way.ts';

const answer = (text: string, status = 200, type = 'application/json'): Answer => ({
  kind: 'answered',
  method: 'GET',
  url: 'https://mcp.example.com/x',
  evidence: [],
  status,
  headers: new Headers({ 'content-type': type }),
  text,
  truncated: false,
});

describe('an answer', () => {
  it('is a document where it is a JSON object with status 200', () => {
    expect(documentOf(answer('{"a":1}'))).toEqual({ a: 1 });
    for (const other of [answer('{"a":1}', 404), answer('[]'), answer('null'), answer('<html>')])
      expect(documentOf(other)).toBeUndefined();
  });

  it('is a page where it says so', () => {
    expect(isPage(answer('', 404, 'Text/HTML; charset=utf-8'))).toBe(true);
    expect(isPage(answer('<html>', 404, 'text/plain'))).toBe(false);
  });

  it('that did not come is unknown, with the reason', () => {
    const none: Answer = {
      kind: 'unanswered',
      method: 'GET',
      url: 'u',
      evidence: [],
      reason: 'timed_out',
      why: 'too late',
    };
    expect(judgeUnanswered(none)).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringContaining('too late'),
    });
  });
});

describe('the product', () => {
  const answer = (headers: Record<string, string>, text = '', status = 401) => ({
    status,
    headers: new Headers(headers),
    text,
  });

  describe('proxies', () => {
    it.each([
      ['nginx/1.22.1', 'nginx 1.22.1', 'nginx'],
      ['openresty', 'nginx', 'nginx'],
      ['Apache/2.4.68 (Debian)', 'Apache httpd 2.4.68', 'apache'],
      ['Caddy', 'Caddy', 'caddy'],
      ['cloudflare', 'Cloudflare', 'cloudflare'],
      ['envoy', 'Envoy', undefined],
    ])('are known by Server: %s', (server, name, product) => {
      expect(findProxies(answer({ server }))).toEqual([
        { name, ...(product ? { product } : {}), mark: `Server: ${server}` },
      ]);
    });

    it('are known by Via and by headers of their own, several in a row', () => {
      const headers = { server: 'cloudflare', 'cf-ray': 'x', via: '1.1 Caddy, 1.1 vegur' };
      expect(findProxies(answer(headers)).map(({ name }) => name)).toEqual([
        'Cloudflare',
        'Cloudflare',
        'Caddy',
        'vegur',
      ]);
    });

    it.each([
      ['<html><hr><center>nginx</center></html>', 'nginx'],
      ['<address>Apache/2.4 Server at localhost</address>', 'Apache httpd'],
      [
        '<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.',
        'HAProxy',
      ],
    ])('are known by the pages they write: %s', (text, name) => {
      expect(findProxies(answer({}, text, 503)).map((found) => found.name)).toEqual([name]);
      expect(findProxies(answer({}, text, 200))).toEqual([]);
    });

    it('are known by a text of their own: Traefik', () => {
      const text = answer({ 'content-type': 'text/plain; charset=utf-8' }, '404 page not found\n', 404);
      expect(findProxies(text)).toMatchObject([{ product: 'traefik' }]);
    });

    it('are none where nothing says so', () => {
      expect(findProxies(answer({ server: 'uvicorn' }, '{}'))).toEqual([]);
    });
  });
});
