import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNotesServer } from '../../../src/mcp/notes/server.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, tryAccess } from '../../support/oauth.ts';

// Over src/app/app.ts and the resource server's document and challenge.

describe.each([
  ['is an origin', ''],
  ['has a path', '/tools'],
])('protected resource metadata, where the public URL %s', (_what, publicPath) => {
  let gatehouse: RunningGatehouse;
  let origin: string;
  beforeAll(async () => {
    gatehouse = await startGatehouse({ publicPath });
    origin = new URL(gatehouse.url).origin;
  });
  afterAll(() => gatehouse.stop());

  const inserted = `/.well-known/oauth-protected-resource${publicPath}/mcp`;
  const root = '/.well-known/oauth-protected-resource';

  it('names the MCP endpoint and its authorization server, at the path-inserted place and at the root (A3-01, A3-03, A3-12)', async () => {
    for (const place of [inserted, root]) {
      const response = await fetch(`${origin}${place}`, { redirect: 'manual' });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await response.json()).toMatchObject({
        resource: gatehouse.mcpUrl,
        authorization_servers: [gatehouse.url],
        scopes_supported: ['notes:read', 'notes:write'],
        bearer_methods_supported: ['header'],
        resource_name: 'Gatehouse notes',
      });
    }
  });

  it('is at no other place, so that no document stands for a resource it does not describe (A3-03)', async () => {
    for (const place of [`${inserted}/more`, `${root}/other`, `${root}/mcp/x`, `${root}//mcp`])
      expect((await fetch(`${origin}${place}`)).status).toBe(404);
  });

  it('is named in the challenge of every 401, with an absolute URL that works (A3-02, A8-02)', async () => {
    for (const init of [
      {},
      { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } },
      { headers: { authorization: 'Bearer wrong' } },
      { method: 'DELETE' },
    ]) {
      const response = await fetch(gatehouse.mcpUrl, init);
      expect(response.status).toBe(401);
      const challenge = response.headers.get('www-authenticate') ?? '';
      const url = /resource_metadata="([^"]*)"/.exec(challenge)?.[1] ?? '';
      expect(url).toBe(`${origin}${inserted}`);
      const document = (await (await fetch(url)).json()) as { resource: string };
      expect(document.resource).toBe(gatehouse.mcpUrl);
    }
  });

  it('says header alone, and a token in the query opens nothing (A8-02)', async () => {
    const { tokens } = await obtainTokens(gatehouse);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
    const { status } = await fetch(`${gatehouse.mcpUrl}?access_token=${tokens.access_token}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: '{}',
    });
    expect([400, 401]).toContain(status);
  });

  it('is read by pages of any origin, and by GET and HEAD alone (A3-01, A3-12)', async () => {
    for (const place of [inserted, root]) {
      const read = await fetch(`${origin}${place}`, { headers: { origin: 'https://app.example.com' } });
      expect(read.headers.get('access-control-allow-origin')).toBe('*');
      expect((await fetch(`${origin}${place}`, { method: 'HEAD' })).status).toBe(200);
      const posted = await fetch(`${origin}${place}`, { method: 'POST' });
      expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
  });
});

it('scopes_supported is the baseline of a server, not its catalogue, and a client that asks for nothing gets it (A3-11)', async () => {
  const first = await startGatehouse();
  const gatehouse = await startGatehouse({
    server: {
      name: 'Notes with a small baseline',
      ...createNotesServer({ notes: first.storage.notes, now: () => Math.floor(Date.now() / 1000) }),
      scopes: { 'notes:read': 'Read notes', 'notes:write': 'Write notes' },
      baselineScopes: ['notes:read'],
    },
  });
  const document = await (await fetch(`${gatehouse.url}/.well-known/oauth-protected-resource/mcp`)).json();
  expect(document).toMatchObject({
    scopes_supported: ['notes:read'],
    resource_name: 'Notes with a small baseline',
  });
  const { tokens } = await obtainTokens(gatehouse, { scope: '' });
  expect(tokens.scope).toBe('notes:read');
  await gatehouse.stop();
  await first.stop();
});
