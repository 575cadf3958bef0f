import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, post, tryAccess } from '../../support/oauth.ts';
import { expectRefused, expectTokens, generousLimits } from '../token/subject.ts';
import { basic, clientWithSecret, tokenExchange } from './subject.ts';

// Over src/authorization-server/token-exchange/token-exchange-grant.ts, src/authorization-server/token-exchange/token-exchange-grant.ts,
// src/authorization-server/token-exchange/exchange-rule.ts and src/authorization-server/token-exchange/actor.ts.

const types = 'urn:ietf:params:oauth:token-type';
const grantTypes: [typeof tokenExchange] = [tokenExchange];
const api = 'https://api.example.com/v1';
const deep = 'https://deep.example.com';

let gatehouse: RunningGatehouse;
const scopes = { 'notes:read': 'Read notes', 'notes:write': 'Write notes', 'api:all': 'Everything' };

async function start(accessTokenSeconds = 3600): Promise<RunningGatehouse> {
  const probe = await startGatehouse();
  const own = Number(new URL(probe.url).port);
  await probe.stop();
  const mcp = `http://localhost:${own}/mcp`;
  return startGatehouse({
    port: own,
    limits: generousLimits,
    tokens: { accessTokenSeconds },
    resources: [
      { resource: api, name: 'The API', scopes, introspectedBy: ['deep'] },
      { resource: deep, name: 'Deep', scopes, accessTokenFormat: 'opaque', introspectedBy: ['deep'] },
    ],
    tokenExchange: [
      { clientId: 'notes', from: mcp, to: [api] },
      { clientId: 'reader', from: mcp, to: [api, deep], scopes: ['notes:read'] },
      { clientId: 'api', from: api, to: [deep] },
      { clientId: 'brief', from: mcp, to: [api, deep] },
    ],
    clients: {
      preRegistered: [
        ...['notes', 'reader', 'api', 'idle'].map((id) => clientWithSecret(id, { grantTypes })),
        clientWithSecret('deep', { grantTypes }),
      ],
    },
  });
}

beforeAll(async () => {
  gatehouse = await start();
});
afterAll(() => gatehouse.stop());

const exchange = (
  token: string,
  fields: Record<string, string> = {},
  client = 'notes',
  at = gatehouse,
): Promise<Response> =>
  post(
    `${at.url}/token`,
    {
      grant_type: tokenExchange,
      subject_token: token,
      subject_token_type: `${types}:access_token`,
      ...fields,
    },
    basic(client),
  );

const introspect = async (token: string): Promise<Record<string, unknown>> =>
  (await (await post(`${gatehouse.url}/introspect`, { token }, basic('deep'))).json()) as Record<
    string,
    unknown
  >;

describe('an exchange of tokens', () => {
  it('gives one for the other resource: the same person and scopes, no longer life, and who acts (T-104)', async () => {
    const { tokens } = await obtainTokens(gatehouse);
    const given = await expectTokens(await exchange(tokens.access_token));
    expect(given).toEqual({
      access_token: expect.any(String),
      issued_token_type: `${types}:access_token`,
      token_type: 'Bearer',
      expires_in: 300,
      scope: 'notes:read notes:write',
    });
    const [account] = await gatehouse.administration.accounts.list();
    expect(decodeJwt(given.access_token)).toMatchObject({
      iss: gatehouse.url,
      sub: account?.id,
      aud: api,
      client_id: 'notes',
      act: { sub: 'notes' },
    });
    expect(await tryAccess(gatehouse.mcpUrl, given.access_token)).toBe(401);
    expect(gatehouse.log.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        audit: 'token.exchanged',
        clientId: 'notes',
        accountId: account?.id,
        from: gatehouse.mcpUrl,
        to: api,
      }),
    );
  });

  it('says the whole chain of who acts for whom, in tokens of either kind', async () => {
    const { tokens } = await obtainTokens(gatehouse);
    const first = (await expectTokens(await exchange(tokens.access_token))).access_token;
    const second = (await expectTokens(await exchange(first, {}, 'api'))).access_token;
    const login = { auth_time: expect.any(Number), amr: ['pwd'] };
    expect(await introspect(first)).toMatchObject({ active: true, act: { sub: 'notes' }, ...login });
    expect(await introspect(second)).toMatchObject({
      active: true,
      client_id: 'api',
      act: { sub: 'api', act: { sub: 'notes' } },
      ...login,
    });
  });

  it('never gives wider scopes, also where the resource has them (T-063)', async () => {
    const { tokens } = await obtainTokens(gatehouse, { scope: 'notes:read', scopes: ['notes:read'] });
    expect(await (await exchange(tokens.access_token)).json()).toMatchObject({ scope: 'notes:read' });
    for (const scope of ['notes:write', 'api:all', 'notes:read notes:write'])
      await expectRefused(await exchange(tokens.access_token, { scope }), 'invalid_scope');
    const both = (await obtainTokens(gatehouse)).tokens.access_token;
    const asReader = await exchange(both, { resource: api }, 'reader');
    expect(await asReader.json()).toMatchObject({ scope: 'notes:read' });
    await expectRefused(
      await exchange(both, { resource: api, scope: 'notes:write' }, 'reader'),
      'invalid_scope',
    );
  });

  it('ends with the token’s grant, and the token no later than the one it came from (T-103)', async () => {
    const { tokens, clientId } = await obtainTokens(gatehouse);
    const first = (await expectTokens(await exchange(tokens.access_token, { resource: deep }, 'reader')))
      .access_token;
    expect(await introspect(first)).toMatchObject({ active: true });
    const { exp } = (await introspect(first)) as { exp: number };
    expect(exp).toBeLessThanOrEqual(Math.floor(Date.now() / 1000) + tokens.expires_in);
    await post(`${gatehouse.url}/revoke`, { token: tokens.refresh_token, client_id: clientId });
    expect(await introspect(first)).toEqual({ active: false });
    await expectRefused(await exchange(tokens.access_token), 'invalid_request');
  });

  it('ends alone when its client revokes it or is removed, and leaves the person’s grant to its own client (T-051, T-103)', async () => {
    const { tokens } = await obtainTokens(gatehouse);
    const given: string[] = [];
    for (const [client, resource] of [
      ['notes', api],
      ['reader', deep],
    ] as const) {
      const token = (await expectTokens(await exchange(tokens.access_token, { resource }, client)))
        .access_token;
      expect(await introspect(token)).toMatchObject({ active: true });
      await post(`${gatehouse.url}/revoke`, { token }, basic('idle'));
      expect(await introspect(token)).toMatchObject({ active: true });
      await post(`${gatehouse.url}/revoke`, { token }, basic(client));
      expect(await introspect(token)).toEqual({ active: false });
      expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
    }
    const brief = await gatehouse.administration.clients.add({
      clientId: 'brief',
      name: 'For a while',
      authMethod: 'client_secret_basic',
      grantTypes,
    });
    for (const resource of [api, deep]) {
      const fields = { subject_token: tokens.access_token, subject_token_type: `${types}:access_token` };
      const answer = await post(
        `${gatehouse.url}/token`,
        { grant_type: tokenExchange, resource, ...fields },
        basic('brief', brief.clientSecret),
      );
      given.push((await expectTokens(answer)).access_token);
    }
    await gatehouse.administration.clients.remove('brief');
    for (const token of given) expect(await introspect(token)).toEqual({ active: false });
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
  });

  it('gives a token that ends no later than the one it came from (T-045)', async () => {
    const brief = await start(100);
    onTestFinished(() => brief.stop());
    const { tokens } = await obtainTokens(brief);
    const { expires_in } = await expectTokens(await exchange(tokens.access_token, {}, 'notes', brief));
    expect(expires_in).toBeGreaterThan(50);
    expect(expires_in).toBeLessThanOrEqual(100);
  });

  it('is for the resources and clients the operator named (T-023)', async () => {
    const token = (await obtainTokens(gatehouse)).tokens.access_token;
    await expectRefused(await exchange(token, { resource: deep }), 'invalid_target');
    await expectRefused(await exchange(token, { resource: gatehouse.mcpUrl }), 'invalid_target');
    await expectRefused(await exchange(token, { resource: 'https://x.example' }), 'invalid_target');
    await expectRefused(await exchange(token, {}, 'reader'), 'invalid_target');
    await expectRefused(await exchange(token, {}, 'idle'), 'invalid_request');
    await expectRefused(await exchange(token, {}, 'api'), 'invalid_request');
    const wrong = { grant_type: tokenExchange, subject_token: token, client_id: 'notes' };
    await expectRefused(await post(`${gatehouse.url}/token`, wrong), 'invalid_client', 401);
  });

  it('takes nothing but a standing access token of a person of ours (T-051, T-104)', async () => {
    const { tokens } = await obtainTokens(gatehouse);
    const good = tokens.access_token;
    const typed = (type: string, token = good) => exchange(token, { subject_token_type: `${types}:${type}` });
    for (const type of ['refresh_token', 'id_token', 'jwt', 'saml2'])
      await expectRefused(await typed(type), 'invalid_request');
    await expectRefused(await exchange(tokens.refresh_token), 'invalid_request');
    await expectRefused(await exchange('nonsense'), 'invalid_request');
    await expectRefused(await exchange('a.b.c'), 'invalid_request');
    for (const fields of [
      { actor_token: good, actor_token_type: `${types}:access_token` },
      { requested_token_type: `${types}:refresh_token` },
      { requested_token_type: `${types}:id-jag` },
      { audience: api },
    ] as Record<string, string>[])
      await expectRefused(await exchange(good, fields), 'invalid_request');
    await gatehouse.administration.accounts.add('grace@example.com', 'a very good password');
    const person = { email: 'grace@example.com', password: 'a very good password' };
    const hers = (await obtainTokens(gatehouse, { person })).tokens.access_token;
    await gatehouse.administration.accounts.disable('grace@example.com');
    await expectRefused(await exchange(hers), 'invalid_request');
  });

  it('is a thing nobody hears of where the operator set none up (A13-11)', async () => {
    const other = await startGatehouse({ limits: generousLimits });
    onTestFinished(() => other.stop());
    const grants = async (url: string) =>
      (
        (await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()) as Record<
          string,
          string[]
        >
      ).grant_types_supported;
    expect(await grants(other.url)).not.toContain(tokenExchange);
    expect(await grants(gatehouse.url)).toContain(tokenExchange);
    const client = clientWithSecret('notes', { grantTypes });
    await expect(startGatehouse({ clients: { preRegistered: [client] } })).rejects.toThrow(
      /needs tokenExchange/,
    );
    const open = { ...client, authMethod: 'none' as const, secretHash: undefined };
    await expect(startGatehouse({ clients: { preRegistered: [open] } })).rejects.toThrow(
      /token exchange is for clients that authenticate/,
    );
  });
});
