import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../support/gatehouse.ts';

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe.each([
  ['an origin', ''],
  ['a path', '/tools'],
])('the public URL, being %s', (_what, publicPath) => {
  let gatehouse: RunningGatehouse;
  beforeAll(async () => {
    gatehouse = await startGatehouse({ publicPath });
  });
  afterAll(() => gatehouse.stop());

  it('tells a person what is there and how to connect (T-017)', async () => {
    const asWritten = await fetch(gatehouse.url, { headers: { accept: browser } });
    const response = await fetch(`${gatehouse.url}/`, { headers: { accept: browser } });
    expect([asWritten.status, response.status]).toEqual([200, 200]);
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    expect(response.headers.get('content-security-policy')).toContain("script-src 'none'");
    expect(response.headers.get('vary')).toContain('Accept');
    const text = await response.text();
    expect(text).toContain(gatehouse.mcpUrl);
    expect(text).toContain('Gatehouse notes');
  });

  it('has a page for a person at each MCP URL, and the challenge for programs (FA-61)', async () => {
    for (const path of ['mcp', 'sse', 'rest']) {
      const place = `${gatehouse.url}/${path}`;
      const page = await fetch(place, { headers: { accept: browser } });
      expect(page.headers.get('content-type')).toMatch(/^text\/html/);
      expect([page.status, page.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringContaining('resource_metadata='),
      ]);
      expect(page.headers.get('content-security-policy')).toContain("script-src 'none'");
      expect(await page.text()).toContain(gatehouse.mcpUrl);
      for (const accept of ['*/*', 'application/json, text/event-stream', 'text/event-stream']) {
        const challenge = await fetch(place, { headers: { accept } });
        expect([challenge.status, await challenge.json()]).toMatchObject([401, { error: 'unauthorized' }]);
      }
    }
  });

  it.each([
    ['a program', 'GET', '*/*'],
    ['a program that wants JSON', 'GET', 'application/json'],
    ['a form', 'POST', browser],
  ])('is a JSON 404 to %s', async (_who, method, accept) => {
    const response = await fetch(`${gatehouse.url}/`, { method, headers: { accept } });
    expect([response.status, await response.json()]).toMatchObject([404, { error: 'not_found' }]);
  });

  it('has no documents but ours below .well-known, and any page may read that (A3-03)', async () => {
    const { origin } = new URL(gatehouse.url);
    const response = await fetch(`${origin}/.well-known/nothing`, {
      headers: { origin: 'https://a.example' },
    });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([404, '*']);
    expect(await response.json()).toMatchObject({ error: 'not_found' });
  });
});
