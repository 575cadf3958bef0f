import { afterEach, describe, expect, it } from 'vitest';
import type { GatehouseOptions } from '../../../src/index.ts';
import { testFolder } from '../../client/support/folder.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import {
  authorization,
  obtainTokens,
  redirectUri,
  refresh,
  register,
  tryAccess,
} from '../../support/oauth.ts';
import { expectErrorPage } from '../../support/refusal.ts';
import { type ManagedClient, manage, postRegistration } from '../../support/registration.ts';
import { createVisitor } from '../../support/visitor.ts';

// Over src/authorization-server/registration/admission.ts, src/authorization-server/registration/admission.ts and
// src/authorization-server/registration/registration-endpoint.ts.

const running: RunningGatehouse[] = [];
afterEach(async () => {
  for (const gatehouse of running.splice(0)) await gatehouse.stop();
});

type Policy = NonNullable<NonNullable<GatehouseOptions['clients']>['registration']>;

async function start(registration: Policy): Promise<RunningGatehouse> {
  const gatehouse = await startGatehouse({ clients: { registration } });
  running.push(gatehouse);
  return gatehouse;
}

async function metadata(gatehouse: RunningGatehouse): Promise<Record<string, unknown>> {
  const response = await fetch(`${gatehouse.url}/.well-known/oauth-authorization-server`);
  return (await response.json()) as Record<string, unknown>;
}

async function outcome(response: Response): Promise<[number, unknown]> {
  return [response.status, ((await response.json()) as { error?: unknown }).error];
}

describe('registration that is off', () => {
  it('is not offered, and refused by name; a client of the operator is the way (A5-03)', async () => {
    const gatehouse = await start('off');
    const document = await metadata(gatehouse);
    expect(document).toHaveProperty('token_endpoint');
    expect(document).not.toHaveProperty('registration_endpoint');
    const openid = await fetch(`${gatehouse.url}/.well-known/openid-configuration`);
    expect(await openid.json()).not.toHaveProperty('registration_endpoint');

    const response = await postRegistration(gatehouse.url);
    expect([response.status, await response.json()]).toEqual([
      403,
      {
        error: 'access_denied',
        error_description: 'this server registers no clients: ask its operator for a client id',
      },
    ]);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect((await countIssued(gatehouse.folder)).clients).toBe(0);
    const { clientId } = await gatehouse.administration.clients.add({
      name: 'An app',
      redirectUris: [redirectUri],
    });
    expect((await obtainTokens(gatehouse, { clientId })).tokens.token_type).toBe('Bearer');
  });

  it('leaves those that registered before their use, and their place to leave', async () => {
    const folder = testFolder();
    const first = await startGatehouse({ folder });
    const client = (await register(first.url)) as ManagedClient;
    const { tokens } = await obtainTokens(first, { clientId: client.client_id });
    await first.stop();
    const port = Number(new URL(first.url).port);
    const copy = await startGatehouse({ folder, port, clients: { registration: 'off' } });
    running.push(copy);
    // The connection of the one that was stopped is noticed by whoever uses it first.
    await fetch(`${copy.url}/healthz`).catch(() => undefined);
    expect((await refresh(copy.url, client.client_id, tokens.refresh_token)).status).toBe(200);
    expect((await manage(client, 'DELETE')).status).toBe(204);
  });
});

describe('registration by approval', () => {
  it('takes a client in, and shows people a page without a redirect until it is approved', async () => {
    const gatehouse = await start('approval');
    const { client_id: id } = await register(gatehouse.url);
    const { url } = authorization(gatehouse, id);
    const before = await countIssued(gatehouse.folder);
    const html = await expectErrorPage(await createVisitor().request(url), 'access_denied', 403);
    expect(html).toContain('This app waits for approval');
    expect(html).toContain(id);
    expect(
      await outcome(await createVisitor().request(url, { headers: { accept: 'application/json' } })),
    ).toEqual([403, 'access_denied']);
    expect(await countIssued(gatehouse.folder)).toEqual(before);

    await gatehouse.administration.clients.approve(id);
    expect((await obtainTokens(gatehouse, { clientId: id })).tokens.token_type).toBe('Bearer');
  });

  it('tells the token endpoint nothing that makes a client register again', async () => {
    const gatehouse = await start('approval');
    const { client_id: id } = await register(gatehouse.url);
    const response = await refresh(gatehouse.url, id, 'any');
    expect([response.status, await response.json()]).toEqual([
      400,
      {
        error: 'access_denied',
        error_description: `the client ${id} waits for the approval of the operator of this server; log in again once it is given`,
      },
    ]);
  });

  it('ends what a client has when it is denied, at once, and it stays denied until approved again', async () => {
    const gatehouse = await start('approval');
    const { client_id: id } = await register(gatehouse.url);
    await gatehouse.administration.clients.approve(id);
    const { tokens } = await obtainTokens(gatehouse, { clientId: id });
    await gatehouse.administration.clients.deny(id);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
    expect(await outcome(await refresh(gatehouse.url, id, tokens.refresh_token))).toEqual([
      400,
      'access_denied',
    ]);
    const page = await createVisitor().request(authorization(gatehouse, id).url);
    expect(await expectErrorPage(page, 'access_denied', 403)).toContain('This app is not allowed here');
    await gatehouse.administration.clients.approve(id);
    expect((await obtainTokens(gatehouse, { clientId: id })).tokens.token_type).toBe('Bearer');
  });

  it('is asked again for a client that changes: an approved name is no way in for another one (T-064)', async () => {
    const gatehouse = await start('approval');
    const client = (await register(gatehouse.url)) as ManagedClient;
    await gatehouse.administration.clients.approve(client.client_id);
    const changes = { client_id: client.client_id, redirect_uris: ['https://other.example/cb'] };
    expect((await manage(client, 'PUT', changes)).status).toBe(200);
    const [listed] = await gatehouse.administration.clients.list();
    expect(listed).toMatchObject({ status: 'pending', redirectUris: ['https://other.example/cb'] });
  });

  it('asks nothing of a client that the operator made', async () => {
    const gatehouse = await start('approval');
    const { clientId } = await gatehouse.administration.clients.add({
      name: 'An app',
      redirectUris: [redirectUri],
    });
    expect((await obtainTokens(gatehouse, { clientId })).tokens.token_type).toBe('Bearer');
  });
});

describe('registration by invitation', () => {
  const withToken = (token: string) => ({ authorization: `Bearer ${token}` });

  it('refuses who has no initial access token, or an unknown one, with a challenge (T-065)', async () => {
    const gatehouse = await start('initial_access_token');
    expect(await metadata(gatehouse)).toHaveProperty('registration_endpoint');
    const none = await postRegistration(gatehouse.url);
    expect([none.headers.get('www-authenticate'), ...(await outcome(none))]).toEqual([
      'Bearer',
      401,
      'invalid_token',
    ]);
    for (const headers of [withToken('unknown'), { authorization: 'Basic eDp5' }, withToken(' ')]) {
      const response = await postRegistration(gatehouse.url, {}, headers);
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
      expect(await outcome(response)).toEqual([401, 'invalid_token']);
    }
    expect((await countIssued(gatehouse.folder)).clients).toBe(0);
  });

  it('takes an invitation as often as it says, also at once, and no more (T-065)', async () => {
    const gatehouse = await start('initial_access_token');
    const { token } = await gatehouse.administration.clients.invite({ uses: 2, lifeSeconds: 60 });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => postRegistration(gatehouse.url, {}, withToken(token))),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    const refused = answers.filter(({ status }) => status === 401);
    expect(refused).toHaveLength(8);
    for (const response of refused) expect(await response.json()).toMatchObject({ error: 'invalid_token' });
    expect((await countIssued(gatehouse.folder)).clients).toBe(2);
    const [made] = answers.filter(({ status }) => status === 201);
    const client = (await made?.json()) as ManagedClient;
    expect((await obtainTokens(gatehouse, { clientId: client.client_id })).tokens.token_type).toBe('Bearer');
  });

  it('uses nothing up for a registration that is refused (T-065)', async () => {
    const gatehouse = await start('initial_access_token');
    const { token } = await gatehouse.administration.clients.invite({ uses: 1, lifeSeconds: 60 });
    const bad = await postRegistration(gatehouse.url, { redirect_uris: ['javascript:x'] }, withToken(token));
    expect(bad.status).toBe(400);
    const contacts = await postRegistration(gatehouse.url, { contacts: [1] }, withToken(token));
    expect(contacts.status).toBe(400);
    expect((await postRegistration(gatehouse.url, {}, withToken(token))).status).toBe(201);
  });

  it('takes no invitation that has expired, and keeps its token as a hash, out of the log (T-065)', async () => {
    const gatehouse = await start('initial_access_token');
    const { token } = await gatehouse.administration.clients.invite({ uses: 5, lifeSeconds: 1 });
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await outcome(await postRegistration(gatehouse.url, {}, withToken(token)))).toEqual([
      401,
      'invalid_token',
    ]);
    expect(gatehouse.log.join('')).not.toContain(token);
    expect(await gatehouse.storage.invitations.find(token)).toBeUndefined();
  });
});
