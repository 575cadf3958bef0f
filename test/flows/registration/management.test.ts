import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import {
  approve,
  authorization,
  obtainTokens,
  openConsent,
  redeem,
  redirectUri,
  refresh,
  register,
  tryAccess,
} from '../../support/oauth.ts';
import { type ManagedClient, manage } from '../../support/registration.ts';
import { createVisitor } from '../../support/visitor.ts';

// Over src/authorization-server/registration/registration-endpoint.ts, src/authorization-server/engine/client-adapter.ts and
// src/authorization-server/registration/registration-feature.ts.

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse();
});
afterAll(() => gatehouse.stop());

async function newClient(metadata: Record<string, unknown> = {}): Promise<ManagedClient> {
  return (await register(gatehouse.url, metadata)) as ManagedClient;
}

/** An update that says what the registration says already, with changes. */
function update(client: ManagedClient, changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    client_id: client.client_id,
    client_name: client.client_name,
    redirect_uris: [redirectUri],
    ...changes,
  };
}

async function errorOf(response: Response): Promise<[number, unknown]> {
  return [response.status, ((await response.json()) as { error?: unknown }).error];
}

describe('a client with its registration access token', () => {
  it('reads its registration, never from a cache (RFC 7592 section 2.1)', async () => {
    const client = await newClient({ token_endpoint_auth_method: 'client_secret_post' });
    const response = await manage(client, 'GET');
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await response.json()).toEqual(client);
    expect(client.registration_client_uri).toBe(`${gatehouse.url}/register/${client.client_id}`);
  });

  it('changes it, and gets another token; the one before is worth nothing (T-064, RFC 7592 section 2.2)', async () => {
    const client = await newClient();
    const response = await manage(client, 'PUT', update(client, { client_name: 'Renamed' }));
    const changed = (await response.json()) as ManagedClient;
    expect([response.status, changed.client_name]).toEqual([200, 'Renamed']);
    expect(changed.registration_access_token).not.toBe(client.registration_access_token);
    for (const method of ['GET', 'DELETE'] as const)
      expect(await errorOf(await manage(client, method))).toEqual([401, 'invalid_token']);
    expect(await errorOf(await manage(client, 'PUT', update(client)))).toEqual([401, 'invalid_token']);
    expect((await manage(changed, 'GET')).status).toBe(200);
  });

  it('of many changes at once makes one (T-064)', async () => {
    const client = await newClient();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        manage(client, 'PUT', update(client, { client_name: `Name ${at}` })),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 401),
    ]);
    const [made] = answers.filter(({ status }) => status === 200);
    const winner = (await made?.json()) as ManagedClient;
    expect(await (await manage(winner, 'GET')).json()).toMatchObject({ client_name: winner.client_name });
  });

  it('that changes what people consented to loses its grants and open pages, and is asked about again (T-064)', async () => {
    const client = await newClient();
    const { tokens, flow } = await obtainTokens(gatehouse, { clientId: client.client_id });
    const visitor = createVisitor();
    const page = await openConsent(authorization(gatehouse, client.client_id), visitor);
    const elsewhere = 'http://127.0.0.1:53682/elsewhere';
    const response = await manage(client, 'PUT', update(client, { redirect_uris: [elsewhere] }));
    expect(response.status).toBe(200);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
    expect(await errorOf(await refresh(gatehouse.url, client.client_id, tokens.refresh_token))).toEqual([
      400,
      'invalid_grant',
    ]);
    const late = await visitor.submit(page, '/consent', [['decision', 'allow']]);
    expect([late.response.status, late.response.headers.get('location')]).toEqual([400, null]);
    expect((await createVisitor().open(flow.url)).response.status).toBe(400);
    const again = authorization(gatehouse, client.client_id, { redirect_uri: elsewhere });
    expect((await approve(again)).searchParams.get('code')).not.toBeNull();
  });

  it('that says what it said before keeps its grants', async () => {
    const client = await newClient();
    const { tokens } = await obtainTokens(gatehouse, { clientId: client.client_id });
    expect((await manage(client, 'PUT', update(client))).status).toBe(200);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
    expect((await refresh(gatehouse.url, client.client_id, tokens.refresh_token)).status).toBe(200);
  });

  it.each([
    ['a redirect URI that runs', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['a redirect URI anybody can read', { redirect_uris: ['http://app.example/cb'] }, 'invalid_redirect_uri'],
    ['no redirect URI', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['eleven redirect URIs', { redirect_uris: Array(11).fill(redirectUri) }, 'invalid_redirect_uri'],
    ['a name of 10 KB', { client_name: 'x'.repeat(10_240) }, 'invalid_client_metadata'],
    ['another client id', { client_id: 'client_of_somebody_else' }, 'invalid_request'],
    ['no client id', { client_id: undefined }, 'invalid_request'],
    ['a secret that is not its own', { client_secret: 'guessed' }, 'invalid_request'],
    ['a token of its choice', { registration_access_token: 'chosen' }, 'invalid_request'],
    ['a time of its choice', { client_id_issued_at: 1 }, 'invalid_request'],
  ])('cannot change to %s: nothing changes then (T-064, T-058)', async (_what, changes, error) => {
    const client = await newClient();
    expect(await errorOf(await manage(client, 'PUT', update(client, changes)))).toEqual([400, error]);
    expect(await (await manage(client, 'GET')).json()).toEqual(client);
  });

  it('never gains what only an operator may give, by a change either (T-063)', async () => {
    const client = await newClient();
    const privileged = {
      grant_types: ['authorization_code', 'client_credentials'],
      scope: 'admin',
      trusted: true,
      skip_consent: true,
      software_statement: 'e30.e30.',
    };
    const response = await manage(client, 'PUT', update(client, privileged));
    const changed = (await response.json()) as ManagedClient;
    expect(changed.grant_types).toEqual(['authorization_code']);
    expect(JSON.stringify(changed)).not.toMatch(/admin|trusted|skip_consent|software_statement/);
  });

  it('deletes it, with its grants, tokens and open pages, and leaves no row behind (T-064, T-066)', async () => {
    const before = await countIssued(gatehouse.folder);
    const client = await newClient();
    const { tokens } = await obtainTokens(gatehouse, { clientId: client.client_id });
    const visitor = createVisitor();
    const page = await openConsent(authorization(gatehouse, client.client_id), visitor);
    const flow = authorization(gatehouse, client.client_id);
    const code = (await approve(flow)).searchParams.get('code') ?? '';

    const response = await manage(client, 'DELETE');
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(await countIssued(gatehouse.folder)).toEqual(before);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
    for (const answer of [
      await refresh(gatehouse.url, client.client_id, tokens.refresh_token),
      await redeem(gatehouse.url, flow, code),
    ])
      expect(await errorOf(answer)).toEqual([401, 'invalid_client']);
    const late = await visitor.submit(page, '/consent', [['decision', 'allow']]);
    expect([late.response.status, late.response.headers.get('location')]).toEqual([400, null]);
    for (const method of ['GET', 'PUT', 'DELETE'] as const)
      expect(
        await errorOf(await manage(client, method, method === 'PUT' ? update(client) : undefined)),
      ).toEqual([401, 'invalid_token']);
  });
});

describe('the registration of a client', () => {
  it.each(['GET', 'PUT', 'DELETE'] as const)(
    'is closed to %s with the token of another client, with none, and with a made up one (T-064)',
    async (method) => {
      const [client, other] = [await newClient(), await newClient()];
      const body = method === 'PUT' ? update(client) : undefined;
      for (const token of [other.registration_access_token, 'made-up', client.client_id]) {
        const attempt = { ...client, registration_access_token: token };
        expect(await errorOf(await manage(attempt, method, body))).toEqual([401, 'invalid_token']);
      }
      const init = {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      };
      const none = await fetch(client.registration_client_uri, init);
      expect(none.status).toBe(401);
      expect(none.headers.get('www-authenticate')).toMatch(/^Bearer/);
      const inQuery = `${client.registration_client_uri}?access_token=${client.registration_access_token}`;
      expect([400, 401]).toContain((await fetch(inQuery, init)).status);
      for (const one of [client, other]) expect(await (await manage(one, 'GET')).json()).toEqual(one);
    },
  );

  it('of the operator, or from before there were tokens, is managed by nobody and works on (T-064)', async () => {
    const { clientId } = await gatehouse.administration.clients.add({
      name: 'From the operator',
      redirectUris: [redirectUri],
    });
    const attempt = {
      client_id: clientId,
      registration_client_uri: `${gatehouse.url}/register/${clientId}`,
      registration_access_token: (await newClient()).registration_access_token,
    };
    for (const method of ['GET', 'DELETE'] as const)
      expect(await errorOf(await manage(attempt, method))).toEqual([401, 'invalid_token']);
    expect((await obtainTokens(gatehouse, { clientId })).tokens.token_type).toBe('Bearer');
  });

  it('shows its token nowhere: not in the log, and in the database as a hash (T-064)', async () => {
    const client = await newClient();
    await manage(client, 'GET');
    const { registration_access_token: token } = client;
    expect(gatehouse.log.join('')).not.toContain(token);
    const row = await gatehouse.storage.clients.find(client.client_id);
    expect(Buffer.from(row?.payload ?? []).toString('latin1')).not.toContain(token);
    expect(await gatehouse.storage.clients.findByToken(token)).toBeUndefined();
  });

  it('is read and changed by pages of any origin, without cookies', async () => {
    const client = await newClient();
    const response = await manage(client, 'GET', undefined, { origin: 'https://app.example.com' });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const preflight = await fetch(client.registration_client_uri, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example.com', 'access-control-request-method': 'PUT' },
    });
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, PUT, DELETE');
  });

  it('takes no other method', async () => {
    const client = await newClient();
    const response = await fetch(client.registration_client_uri, { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, PUT, DELETE, OPTIONS']);
  });
});

describe('a software statement', () => {
  it('is passed over: nothing in it counts, and it is not repeated as if it did (RFC 7591 section 2.3, T-063)', async () => {
    const claims = {
      client_name: 'A trusted vendor',
      redirect_uris: ['https://vendor.example/cb'],
      trusted: true,
    };
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const client = await newClient({ software_statement: `${part({ alg: 'none' })}.${part(claims)}.` });
    expect(client).toMatchObject({ client_name: 'A test client', redirect_uris: [redirectUri] });
    expect(client).not.toHaveProperty('software_statement');
    const { html } = await openConsent(authorization(gatehouse, client.client_id), createVisitor());
    expect(html).not.toContain('vendor');
    expect(html).toContain('Not checked');
  });
});
