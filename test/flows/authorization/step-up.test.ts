import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modernRequest } from '../../mcp/support/gate.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import {
  approve,
  authorization,
  obtainTokens,
  openConsent,
  post,
  refresh,
  register,
  tryAccess,
} from '../../support/oauth.ts';
import { grace } from '../../support/served.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';

// Over src/authorization-server/interactions/make-grant.ts, src/authorization-server/interactions/consent.ts and
// src/authorization-server/views/scope-list.ts.

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  await gatehouse.administration.accounts.add(grace.email, grace.password);
});
afterAll(() => gatehouse.stop());

const newLegend = 'New: the app will also be able to';
const allowedLegend = 'Allowed before: the app will still be able to';

/** Legend of each group of scopes on the consent page -> the scopes in it. */
async function groupsFor(
  clientId: string,
  options: { resource?: string; person?: typeof grace; visitor?: Visitor } = {},
) {
  const flow = authorization(gatehouse, clientId, options.resource ? { resource: options.resource } : {});
  const { html } = await openConsent(flow, options.visitor ?? createVisitor(), options.person);
  const groups = [...html.matchAll(/<fieldset><legend>([^<]*)<\/legend>([\s\S]*?)<\/fieldset>/g)]
    .map(([, legend, body = '']): [string, unknown[]] => [
      String(legend),
      [...body.matchAll(/name="scope" value="([^"]*)"/g)].map(([, scope]) => scope),
    ])
    .filter(([, scopes]) => scopes.length > 0);
  return Object.fromEntries(groups);
}

const nothingBefore = { 'The app will be able to': ['notes:read', 'notes:write'] };

describe('a client that asks for more', () => {
  it('has only what its person ticked, is told just what a call lacks, and its elevation is in the log with its request (A12-08)', async () => {
    const metadata = await fetch(`${gatehouse.url}/.well-known/oauth-protected-resource/mcp`);
    const { scopes_supported: offered } = (await metadata.json()) as { scopes_supported: string[] };
    expect(offered).toEqual(['notes:read', 'notes:write']);

    const { clientId, tokens } = await obtainTokens(gatehouse, { scopes: ['notes:read'] });
    expect(tokens.scope).toBe('notes:read');
    const { headers, json } = modernRequest('tools/call', { name: 'add_note', arguments: { text: 'a' } });
    const refused = await fetch(gatehouse.mcpUrl, {
      method: 'POST',
      headers: {
        ...headers,
        authorization: `Bearer ${tokens.access_token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(json),
    });
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toMatch(/scope="notes:write"/);

    await obtainTokens(gatehouse, { clientId });
    const consents = gatehouse.log
      .map((line) => JSON.parse(line))
      .filter((line) => line.audit === 'consent.granted' && line.clientId === clientId);
    expect(consents).toMatchObject([
      { scopes: 'notes:read', requestId: expect.stringMatching(/^[\da-f-]{36}$/) },
      { scopes: 'notes:read notes:write', requestId: expect.stringMatching(/^[\da-f-]{36}$/) },
    ]);
  });

  it('is asked about again, with what is new apart from what was allowed before (T-025)', async () => {
    const visitor = createVisitor();
    const { clientId } = await obtainTokens(gatehouse, { scopes: ['notes:read'], visitor });
    expect(await groupsFor(clientId, { visitor })).toEqual({
      [newLegend]: ['notes:write'],
      [allowedLegend]: ['notes:read'],
    });
  });

  it('is asked about again where all was allowed before (T-025)', async () => {
    const visitor = createVisitor();
    const { clientId } = await obtainTokens(gatehouse, { visitor });
    expect(await groupsFor(clientId, { visitor })).toEqual({
      [allowedLegend]: ['notes:read', 'notes:write'],
    });
  });

  it('is new to another account, at another resource, and under another identifier', async () => {
    const { clientId } = await obtainTokens(gatehouse);
    expect(await groupsFor(clientId, { person: grace })).toEqual(nothingBefore);
    expect(await groupsFor(clientId, { resource: `${gatehouse.url}/sse` })).toEqual(nothingBefore);
    expect(await groupsFor((await register(gatehouse.url)).client_id)).toEqual(nothingBefore);
  });

  it('is new again where it gave back what it had', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    await post(`${gatehouse.url}/revoke`, { token: tokens.refresh_token, client_id: clientId });
    expect(await groupsFor(clientId)).toEqual(nothingBefore);
  });

  it('keeps what it had beside what it gets now, as other installs of it may be using that', async () => {
    const first = await obtainTokens(gatehouse, { scopes: ['notes:read'] });
    const second = await obtainTokens(gatehouse, { clientId: first.clientId });
    expect(await tryAccess(gatehouse.mcpUrl, first.tokens.access_token)).toBe(200);
    expect(await tryAccess(gatehouse.mcpUrl, second.tokens.access_token)).toBe(200);
    expect((await refresh(gatehouse.url, first.clientId, first.tokens.refresh_token)).status).toBe(200);
  });

  it('loses what it had where the person says so, at this resource and account alone', async () => {
    const first = await obtainTokens(gatehouse);
    const { clientId } = first;
    const hers = await obtainTokens(gatehouse, { clientId, person: grace });
    const second = await obtainTokens(gatehouse, { clientId, fields: [['end_earlier', 'yes']] });
    const status = ({ tokens }: typeof first) => tryAccess(gatehouse.mcpUrl, tokens.access_token);
    expect([await status(first), await status(hers), await status(second)]).toEqual([401, 200, 200]);
    expect((await refresh(gatehouse.url, clientId, first.tokens.refresh_token)).status).toBe(400);
    const lines = gatehouse.log.filter((line) => line.includes('ended_at_consent'));
    expect(lines.map((line) => JSON.parse(line).clientId)).toEqual([clientId]);
  });

  it('shows as new what none of its newest twenty grants gives, and loses the older ones as well where the person says so', async () => {
    const visitor = createVisitor();
    const oldest = await obtainTokens(gatehouse, { visitor });
    const { clientId } = oldest;
    const scopes = ['notes:read'];
    for (let newer = 0; newer < 19; newer++) await obtainTokens(gatehouse, { clientId, scopes, visitor });
    expect(await groupsFor(clientId, { visitor })).toEqual({
      [allowedLegend]: ['notes:read', 'notes:write'],
    });
    await obtainTokens(gatehouse, { clientId, scopes, visitor });
    expect(await groupsFor(clientId, { visitor })).toEqual({
      [newLegend]: ['notes:write'],
      [allowedLegend]: ['notes:read'],
    });
    await obtainTokens(gatehouse, { clientId, scopes, visitor, fields: [['end_earlier', 'yes']] });
    expect(await tryAccess(gatehouse.mcpUrl, oldest.tokens.access_token)).toBe(401);
  });

  it('can be ended here also where its newest twenty grants are of another resource (T-103)', async () => {
    const visitor = createVisitor();
    const { clientId, tokens } = await obtainTokens(gatehouse, { visitor });
    const elsewhere = { resource: `${gatehouse.url}/sse` };
    for (let newer = 0; newer < 20; newer++)
      await approve(authorization(gatehouse, clientId, elsewhere), { visitor });
    const { html } = await openConsent(authorization(gatehouse, clientId), visitor);
    expect(html).toContain('name="end_earlier"');
    await obtainTokens(gatehouse, { clientId, visitor, fields: [['end_earlier', 'yes']] });
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
  });

  it('loses nothing where the person denies, whatever else is ticked', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const visitor = createVisitor();
    const page = await openConsent(authorization(gatehouse, clientId), visitor);
    await visitor.submit(page, '/consent', [
      ['decision', 'deny'],
      ['end_earlier', 'yes'],
    ]);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
  });
});
