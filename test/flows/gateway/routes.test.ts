// Flows through src/composition/resolve-routes.ts, src/composition/served-routes.ts, src/composition/route-backend.ts,
// src/composition/mcp-endpoint.ts, src/app/app.ts, src/settings/scopes.ts and
// src/authorization-server/engine/engine.ts: two real programs behind one gate, each at a path of its own.
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SettingsInput } from '../../../src/options.ts';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import {
  authorization,
  obtainTokens,
  openConsent,
  refresh,
  register,
  tryAccess,
} from '../../support/oauth.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { createVisitor } from '../../support/visitor.ts';
import { connectSdkV1 } from '../clients/support/sdk-v1.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';

const backend = (mark: string) => nodeProgram('test/support/backend/server.ts', 'sound', mark);

const notes = {
  name: 'Team notes',
  backend: backend('of-notes'),
  scopes: { 'notes:read': 'Read the notes of the team.', 'notes:write': 'Change the notes of the team.' },
  baselineScopes: ['notes:read'],
  scopeRules: { tools: { echo: ['notes:write'] }, otherwise: ['notes:read'] },
};
const files = { path: '/team/files', backend: backend('of-files') };
const routes = { notes, files } satisfies SettingsInput['routes'];

/** What a tool of the backend said, out of its text. */
function said(result: unknown): Record<string, unknown> {
  return JSON.parse((result as { content: { text: string }[] }).content[0]?.text ?? '');
}

/** The clients' view of one route. */
const at = ({ url }: { url: string }, path: string) => ({ url, mcpUrl: `${url}${path}/mcp` });

const both = ['notes:read', 'notes:write'];

describe.each(['', '/tools'])('two servers behind a public URL that ends with %j', (publicPath) => {
  let gate: RunningGatehouse;
  beforeAll(async () => {
    gate = await startGatehouse({ routes, publicPath });
  });
  afterAll(() => gate.stop());

  it('are protected resources of their own, with metadata at the origin, and nothing is at the public URL itself (A3-01, A3-03)', async () => {
    const { origin } = new URL(gate.url);
    expect(gate.mcpUrl).toBe(`${gate.url}/notes/mcp`);
    for (const [path, name, scopes] of [
      ['/notes', 'Team notes', ['notes:read']],
      ['/team/files', 'files', ['mcp']],
    ] as const)
      for (const transport of ['mcp', 'sse', 'rest']) {
        const challenge = await fetch(`${gate.url}${path}/${transport}`, {
          method: transport === 'sse' ? 'GET' : 'POST',
        });
        expect(challenge.status).toBe(401);
        const documentUrl = `${origin}/.well-known/oauth-protected-resource${publicPath}${path}/${transport}`;
        expect(challenge.headers.get('www-authenticate')).toContain(`resource_metadata="${documentUrl}"`);
        expect(await (await fetch(documentUrl)).json()).toMatchObject({
          resource: `${gate.url}${path}/${transport}`,
          authorization_servers: [gate.url],
          scopes_supported: scopes,
          resource_name: name,
        });
      }
    expect((await fetch(`${gate.url}/mcp`, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${origin}/.well-known/oauth-protected-resource`)).status).toBe(404);
  });

  it('are each logged in to and called by clients of every era, with a program each (B5-16)', async () => {
    for (const [path, mark, scopes] of [
      ['/notes', 'of-notes', both],
      ['/team/files', 'of-files', ['mcp']],
    ] as const) {
      const { mcpUrl } = at(gate, path);
      const v1 = await connectSdkV1(mcpUrl, { scopes: [...scopes] });
      const v2 = await connectSdkV2(mcpUrl, { pin: '2026-07-28' }, { scopes: [...scopes] });
      for (const { client } of [v1, v2]) {
        const { args } = said(await client.callTool({ name: 'surroundings', arguments: {} }));
        expect(args).toEqual(['sound', mark]);
        await client.close();
      }
    }
  });

  it('take no token of the other, and refresh none for it (T-158, T-162)', async () => {
    const [ofNotes, ofFiles] = [
      await obtainTokens(at(gate, '/notes')),
      await obtainTokens(at(gate, '/team/files'), { scope: 'mcp', scopes: ['mcp'] }),
    ];
    const status = (path: string, { tokens }: typeof ofNotes) =>
      tryAccess(at(gate, path).mcpUrl, tokens.access_token);
    expect([await status('/notes', ofNotes), await status('/team/files', ofFiles)]).toEqual([200, 200]);
    expect([await status('/team/files', ofNotes), await status('/notes', ofFiles)]).toEqual([401, 401]);
    const stretched = await refresh(gate.url, ofNotes.clientId, ofNotes.tokens.refresh_token, {
      resource: at(gate, '/team/files').mcpUrl,
    });
    expect(await stretched.json()).toMatchObject({ error: 'invalid_target' });
  });

  it('know no session of the other, not even for the same client and account (T-125, T-158)', async () => {
    const { client_id: clientId } = await register(gate.url);
    const ofNotes = await obtainTokens(at(gate, '/notes'), { clientId });
    const ofFiles = await obtainTokens(at(gate, '/team/files'), { clientId, scope: 'mcp', scopes: ['mcp'] });
    const post = (path: string, { tokens }: typeof ofNotes, message: object, session?: string) =>
      fetch(at(gate, path).mcpUrl, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${tokens.access_token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
      });
    const opened = await post('/notes', ofNotes, {
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
    });
    const session = opened.headers.get('mcp-session-id') ?? '';
    expect(session).not.toBe('');
    const list = { method: 'tools/list', params: {} };
    expect((await post('/notes', ofNotes, list, session)).status).toBe(200);
    expect((await post('/team/files', ofFiles, list, session)).status).toBe(404);
    const ended = await fetch(at(gate, '/team/files').mcpUrl, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${ofFiles.tokens.access_token}`, 'mcp-session-id': session },
    });
    expect(ended.status).toBe(404);
    expect((await post('/notes', ofNotes, list, session)).status).toBe(200);
  });

  it('have scopes of their own: on the consent page with the tools they open, and in challenges (A8-01)', async () => {
    const { client_id } = await register(gate.url);
    const flow = authorization(at(gate, '/notes'), client_id, { scope: 'notes:read notes:write mcp' });
    const visitor = createVisitor();
    // Where the program takes long to start, the page does not wait for its tools.
    const html = await vi.waitFor(
      async () => {
        const page = await openConsent(flow, visitor);
        expect(page.html).toContain('echo');
        return page.html;
      },
      { timeout: 20_000, interval: 200 },
    );
    expect(html).toContain('Team notes');
    expect(html).toContain('Change the notes of the team.');
    expect(html).not.toContain('value="mcp"');

    const reading = await obtainTokens(at(gate, '/notes'), { scope: 'notes:read', scopes: ['notes:read'] });
    const refused = await fetch(`${gate.url}/notes/rest`, { method: 'POST' });
    expect(refused.headers.get('www-authenticate')).toContain('scope="notes:read"');
    expect(reading.tokens.scope).toBe('notes:read');
  });

  it('are listed at the public URL and on the account page, where a session says at which it is (T-124)', async () => {
    const home = await (await fetch(`${gate.url}/`, { headers: { accept: 'text/html' } })).text();
    for (const text of ['Team notes', `${gate.url}/notes/mcp`, `${gate.url}/team/files/mcp`])
      expect(home).toContain(text);

    const { client } = await connectSdkV1(at(gate, '/notes').mcpUrl, { scopes: both });
    const visitor = createVisitor();
    const page = await visitor.open(`${gate.url}/account`);
    const { html } = await visitor.submit(page, '/login', [
      ['email', ada.email],
      ['password', ada.password],
    ]);
    expect(html).toContain('At <bdi>Team notes</bdi>');
    await client.close();
  });

  it('are counted each by its path, and nothing else below it makes a series (T-113)', async () => {
    await fetch(`${gate.url}/notes/mcp`, { method: 'POST' });
    await fetch(`${gate.url}/notes/guessed-${Date.now()}`);
    const { createServer } = await import('node:http');
    const server = createServer(gate.serveMetrics);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    server.close();
    expect(text).toContain('route="/notes/mcp",status="4xx"');
    expect(text).not.toContain('guessed');
    expect(text).toMatch(/gatehouse_backend_processes \d+/);
  });
});

it('a route with scopes and no rules needs its baseline scopes for everything (A8-04)', async () => {
  const { scopeRules: _none, ...unruled } = notes;
  const gate = await startGatehouse({ routes: { notes: unruled } });
  onTestFinished(() => gate.stop());
  const { mcpUrl } = at(gate, '/notes');
  const call = { name: 'surroundings', arguments: {} };
  const lacking = await connectSdkV2(mcpUrl, 'auto', { scopes: ['notes:write'] });
  await expect(lacking.client.callTool(call)).rejects.toThrow();
  const granted = await connectSdkV2(mcpUrl, 'auto', { scopes: ['notes:read'] });
  expect(said(await granted.client.callTool(call)).args).toContain('of-notes');
  await Promise.all([lacking.client.close(), granted.client.close()]);
});

describe('routes that change while the server runs', () => {
  let gate: RunningGatehouse;
  afterEach(() => gate.stop());
  const notes = { backend: backend('of-notes') };

  it('come and go with their resources and scopes; the sessions of others go on', async () => {
    gate = await startGatehouse({ routes: { notes } });
    const kept = await connectSdkV1(at(gate, '/notes').mcpUrl, { scopes: ['mcp'] });
    const pid = async () => said(await kept.client.callTool({ name: 'echo', arguments: { text: 'x' } })).pid;
    const before = await pid();
    const running = kept.client.callTool({ name: 'echo', arguments: { text: 'long', delayMs: 3000 } });

    gate.replaceRoutes({ notes, files: { ...files, scopes: { 'files:read': 'Read files.' } } });
    const added = await connectSdkV2(at(gate, '/team/files').mcpUrl, 'auto', { scopes: ['files:read'] });
    expect(said(await added.client.callTool({ name: 'surroundings', arguments: {} })).args).toEqual([
      'sound',
      'of-files',
    ]);
    const metadata = await (await fetch(`${gate.url}/.well-known/oauth-authorization-server`)).json();
    expect((metadata as { scopes_supported: string[] }).scopes_supported).toContain('files:read');

    gate.replaceRoutes({ notes });
    await expect(added.client.listTools()).rejects.toThrow();
    expect((await fetch(`${gate.url}/team/files/mcp`, { method: 'POST' })).status).toBe(404);
    const { client_id } = await register(gate.url);
    const refused = await fetch(
      authorization(at(gate, '/team/files'), client_id, { scope: 'files:read' }).url,
      {
        redirect: 'manual',
      },
    );
    expect(refused.headers.get('location') ?? (await refused.text())).toContain('invalid_target');

    expect(said(await running)).toMatchObject({ said: 'long', pid: before });
    expect(await pid()).toBe(before);
    await kept.client.close();
  });

  it('cannot go while a rule of the operator speaks of them', async () => {
    gate = await startGatehouse({
      routes: { notes, files: { ...files, scopes: { 'files:read': 'Read files.' } } },
      trustedIssuers: [
        {
          issuer: 'https://idp.example.com',
          jwksUri: 'https://idp.example.com/keys',
          workloads: [{ clientId: 'ci', claims: { sub: 'a' }, scopes: ['files:read'] }],
        },
      ],
    });
    expect(() => gate.replaceRoutes({ notes })).toThrow(/trustedIssuers\.0\.workloads\.0\.scopes/);
    expect((await fetch(`${gate.url}/team/files/mcp`, { method: 'POST' })).status).toBe(401);
  });

  it('are advised on where they are new or changed, as at the start, and not where they stay', async () => {
    const scopes = { 'files:read': 'Read files.' };
    const open = { ...files, scopes, scopeRules: { tools: { echo: ['files:read'] } } };
    const closed = { otherwise: ['files:read'] };
    gate = await startGatehouse({ routes: { old: { ...open, path: '/old' } } });
    const advised = (): string[] => gate.log.flatMap((line) => line.match(/routes\.\w+\.scopeRules:/g) ?? []);
    const byEachNode = (advice: string): string[] => Array.from({ length: nodeCount }, () => advice);
    const ofOld = byEachNode('routes.old.scopeRules:');
    expect(advised()).toEqual(ofOld);
    gate.replaceRoutes({ old: { ...open, path: '/old' }, files: { ...open, scopeRules: closed } });
    expect(advised()).toEqual(ofOld);
    gate.replaceRoutes({ old: { ...open, path: '/old' }, files: open });
    expect(advised()).toEqual([...ofOld, ...byEachNode('routes.files.scopeRules:')]);
  });

  it('stay as they are where the new ones cannot be', async () => {
    gate = await startGatehouse({ routes: { notes } });
    const wrong = { files: { ...files, backend: { ...files.backend, env: ['NOT_SET_ANYWHERE'] } } };
    expect(() => gate.replaceRoutes(wrong)).toThrow(/routes\.files\.backend: .*NOT_SET_ANYWHERE/);
    expect((await fetch(`${gate.url}/notes/mcp`, { method: 'POST' })).status).toBe(401);
  });
});
