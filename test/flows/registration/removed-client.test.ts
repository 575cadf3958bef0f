import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import {
  approve,
  authorization,
  obtainTokens,
  openConsent,
  redeem,
  refresh,
  register,
  tryAccess,
} from '../../support/oauth.ts';
import { expectErrorPage } from '../../support/refusal.ts';
import { createVisitor } from '../../support/visitor.ts';

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse();
});
afterAll(() => gatehouse.stop());

describe('a client that is removed', () => {
  it('while the login page is open gets nothing: the next step is a page (T-066)', async () => {
    const { client_id: id } = await register(gatehouse.url);
    const visitor = createVisitor();
    const page = await visitor.open(authorization(gatehouse, id).url);
    await gatehouse.administration.clients.remove(id);
    await expectErrorPage(await visitor.request(page.url), 'invalid_request');
    const { response, html } = await visitor.submit(page, '/login', [
      ['email', 'ada@example.com'],
      ['password', 'correct horse battery staple'],
    ]);
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    expect(html).not.toContain('value="allow"');
  });

  it('while the consent page is open gets no code (T-066)', async () => {
    const { client_id: id } = await register(gatehouse.url);
    const visitor = createVisitor();
    const page = await openConsent(authorization(gatehouse, id), visitor);
    await gatehouse.administration.clients.remove(id);
    const before = await countIssued(gatehouse.folder);
    const { response } = await visitor.submit(page, '/consent', [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
    ]);
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    expect(await countIssued(gatehouse.folder)).toEqual(before);
  });

  it('between consent and code gets no code (T-066)', async () => {
    const { client_id: id } = await register(gatehouse.url);
    const visitor = createVisitor();
    const page = await openConsent(authorization(gatehouse, id), visitor);
    const csrf = /action="[^"]*\/consent"[\s\S]*?name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
    const posted = await visitor.request(`${page.url}/consent`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: `csrf=${encodeURIComponent(csrf)}&decision=allow&scope=notes%3Aread`,
    });
    await gatehouse.administration.clients.remove(id);
    const response = await visitor.request(posted.headers.get('location') ?? '');
    expect(response.status).toBeLessThan(500);
    expect(response.headers.get('location')).toBeNull();
    expect(await countIssued(gatehouse.folder)).toMatchObject({ grants: 0, codes: 0 });
  });

  it('between code and token is unknown: invalid_client (T-066)', async () => {
    const { client_id: id } = await register(gatehouse.url);
    const flow = authorization(gatehouse, id);
    const code = (await approve(flow)).searchParams.get('code') ?? '';
    await gatehouse.administration.clients.remove(id);
    const response = await redeem(gatehouse.url, flow, code);
    expect([response.status, await response.json()]).toMatchObject([401, { error: 'invalid_client' }]);
  });

  it('takes its tokens along, at once, and leaves no rows behind (T-066)', async () => {
    const kept = await obtainTokens(gatehouse);
    const before = await countIssued(gatehouse.folder);
    const { clientId, tokens } = await obtainTokens(gatehouse);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
    await gatehouse.administration.clients.remove(clientId);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
    const refreshed = await refresh(gatehouse.url, clientId, tokens.refresh_token);
    expect([refreshed.status, await refreshed.json()]).toMatchObject([401, { error: 'invalid_client' }]);
    expect(await countIssued(gatehouse.folder)).toEqual(before);
    expect(await tryAccess(gatehouse.mcpUrl, kept.tokens.access_token)).toBe(200);
  });

  it('can be removed while it redeems: it ends without tokens either way (T-066)', async () => {
    const { client_id: id } = await register(gatehouse.url);
    const flow = authorization(gatehouse, id);
    const code = (await approve(flow)).searchParams.get('code') ?? '';
    const [response] = await Promise.all([
      redeem(gatehouse.url, flow, code),
      gatehouse.administration.clients.remove(id),
    ]);
    expect([200, 400, 401]).toContain(response.status);
    const body = (await response.json()) as { access_token?: string };
    if (body.access_token) expect(await tryAccess(gatehouse.mcpUrl, body.access_token)).toBe(401);
    expect(response.status === 200).toBe(body.access_token !== undefined);
  });
});
