import { describe, expect, it } from 'vitest';
import {
  createMemoryStore,
  discover,
  isClientKnown,
  keepRegistration,
  obtainRegistration,
  type Registration,
} from '../../../src/client/index.ts';
import { testContext } from '../support/context.ts';
import { testCredential, testRegistration } from '../support/credentials.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';
import { startServer } from '../support/scripted-server.ts';

const redirectUri = 'http://127.0.0.1:4711/callback';

async function setUp(overrides: Record<string, unknown> = {}) {
  const as = await startAuthorizationServer(overrides);
  const mcp = await startMcpServer(as);
  const context = testContext();
  const store = createMemoryStore();
  const found = await discover(context, mcp.url);
  const registered = () =>
    as.requests.filter(({ path }) => path === '/register').map(({ body }) => JSON.parse(body));
  return { as, mcp, context, store, found, registered };
}

describe('registration', () => {
  it('is not repeated for another port (A5-10)', async () => {
    const { context, store, found, registered } = await setUp();
    const first = await obtainRegistration(context, found, store, { redirectUri });
    const again = await obtainRegistration(context, found, store, {
      redirectUri: 'http://127.0.0.1:5/callback',
    });
    expect(again).toEqual({ registration: first.registration, how: 'kept' });
    expect(registered()).toHaveLength(1);
  });

  it('of a given client is that of the login, also where another was given for a later one', async () => {
    const { context, store, found } = await setUp();
    const { issuer } = found.authorizationServer;
    const own = testRegistration({ issuer, clientId: 'own', source: 'given' });
    await store.saveRegistration(own);
    await store.saveCredential(found.server, testCredential({ issuer, clientId: 'own' }));
    await store.saveRegistration(testRegistration({ issuer, clientId: 'of another', source: 'given' }));
    expect(await obtainRegistration(context, found, store, { redirectUri })).toEqual({
      registration: own,
      how: 'kept',
    });
  });

  it('is repeated after the end of the client secret', async () => {
    const { context, store, found } = await setUp();
    const { issuer } = found.authorizationServer;
    const old = testRegistration({ issuer, clientSecret: 's', clientSecretExpiresAt: context.now() });
    await store.saveRegistration(old);
    expect((await obtainRegistration(context, found, store, { redirectUri })).how).toBe('new');
  });

  it('is not done where a client id is given, not even where one is kept (A5-01, A5-11)', async () => {
    const { context, store, found, registered } = await setUp();
    await obtainRegistration(context, found, store, { redirectUri });
    const given = { clientId: 'mine', clientSecret: 'secret' };
    const result = await obtainRegistration(context, found, store, { redirectUri, given });
    expect(result).toMatchObject({
      how: 'given',
      registration: { clientId: 'mine', clientSecret: 'secret' },
    });
    expect(registered()).toHaveLength(1);
    expect(await store.findRegistration(found.authorizationServer.issuer)).toMatchObject({
      source: 'dynamic',
    });
    await keepRegistration(store, result);
    const again = await obtainRegistration(context, found, store, {
      redirectUri,
      given: { clientId: 'mine' },
    });
    expect(again.registration.clientSecret).toBe('secret');
  });

  it('carries the private key of a given client, in place of an earlier secret (A5-11)', async () => {
    const { context, store, found } = await setUp();
    const { issuer } = found.authorizationServer;
    const privateKey = { kty: 'EC', crv: 'P-256', alg: 'ES256', d: 'd', x: 'x', y: 'y' };
    await store.saveRegistration(testRegistration({ issuer, clientId: 'mine', clientSecret: 'secret' }));
    const given = { clientId: 'mine', privateKey };
    const { registration } = await obtainRegistration(context, found, store, { redirectUri, given });
    expect(registration).toMatchObject({ privateKey, clientSecret: undefined });
  });

  it('is done once by logins that begin at the same time (CL-1)', async () => {
    const { context, store, found, registered } = await setUp();
    const both = await Promise.all(
      [4711, 4712].map((port) =>
        obtainRegistration(context, found, store, { redirectUri: `http://127.0.0.1:${port}/callback` }),
      ),
    );
    expect(both.map(({ how }) => how)).toEqual(['new', 'kept']);
    expect(new Set(both.map(({ registration }) => registration.clientId)).size).toBe(1);
    expect(registered()).toHaveLength(1);
  });

  it('is repeated where the kept client was refused, unless another one has come meanwhile', async () => {
    const { context, store, found } = await setUp();
    const first = await obtainRegistration(context, found, store, { redirectUri });
    const options = { redirectUri, refused: first.registration.clientId };
    const second = await obtainRegistration(context, found, store, options);
    expect(second.how).toBe('new');
    expect(await obtainRegistration(context, found, store, options)).toEqual({ ...second, how: 'kept' });
  });

  it('of a login that succeeds is kept, should another have taken its place before there was a credential', async () => {
    const { context, store, found } = await setUp();
    const { issuer } = found.authorizationServer;
    const client = await obtainRegistration(context, found, store, { redirectUri });
    await store.saveRegistration(testRegistration({ issuer, clientId: 'meanwhile' }));
    await keepRegistration(store, client);
    expect(await store.findRegistration(issuer)).toEqual(client.registration);
    await store.saveCredential(
      found.server,
      testCredential({ issuer, clientId: client.registration.clientId }),
    );
    await store.saveRegistration(testRegistration({ issuer, clientId: 'later' }));
    await keepRegistration(store, client);
    expect(await store.findRegistration(issuer)).toMatchObject({ clientId: 'later' });
  });

  it('without an endpoint and without a client id says what to ask the operator for (A5-01)', async () => {
    const { context, store, found } = await setUp({ registration_endpoint: undefined });
    await expect(obtainRegistration(context, found, store, { redirectUri })).rejects.toMatchObject({
      reason: 'no_registration',
      message: expect.stringContaining('http://127.0.0.1/callback'),
    });
  });
});

describe('the order of registration (A5-01)', () => {
  const clientIdMetadataUrl = 'https://client.example/client.json';
  const readsDocuments = { client_id_metadata_document_supported: true };

  it('takes the metadata document where the server reads it, and registers nothing', async () => {
    const { context, store, found, registered } = await setUp(readsDocuments);
    await store.saveRegistration(testRegistration({ issuer: found.authorizationServer.issuer }));
    const client = await obtainRegistration(context, found, store, { redirectUri, clientIdMetadataUrl });
    expect(client).toMatchObject({
      how: 'metadata_document',
      registration: {
        clientId: clientIdMetadataUrl,
        source: 'metadata_document',
        tokenEndpointAuthMethod: 'none',
      },
    });
    expect(registered()).toEqual([]);
    await keepRegistration(store, client);
    expect(await obtainRegistration(context, found, store, { redirectUri })).toMatchObject({
      how: 'kept',
      registration: { clientId: clientIdMetadataUrl },
    });
  });

  it('puts a client that was given before the document', async () => {
    const { context, store, found } = await setUp(readsDocuments);
    const { issuer } = found.authorizationServer;
    const given = { clientId: 'mine' };
    const first = await obtainRegistration(context, found, store, {
      redirectUri,
      clientIdMetadataUrl,
      given,
    });
    expect(first).toMatchObject({ how: 'given', registration: { clientId: 'mine', issuer } });
    await keepRegistration(store, first);
    const later = await obtainRegistration(context, found, store, { redirectUri, clientIdMetadataUrl });
    expect(later).toMatchObject({ how: 'kept', registration: { clientId: 'mine' } });
  });

  it('registers where the server does not read documents, also where it did so before', async () => {
    const { context, store, found, registered } = await setUp();
    const { issuer } = found.authorizationServer;
    const document = { issuer, clientId: clientIdMetadataUrl, source: 'metadata_document' as const };
    await store.saveRegistration(testRegistration(document));
    const options = { redirectUri, clientIdMetadataUrl };
    expect(await obtainRegistration(context, found, store, options)).toMatchObject({ how: 'new' });
    expect(registered()).toHaveLength(1);
  });

  it.each(['http://127.0.0.1/client.json', 'https://client.example/'])(
    'refuses %s as the place of a document',
    async (place) => {
      const { context, store, found } = await setUp(readsDocuments);
      const options = { redirectUri, clientIdMetadataUrl: place };
      await expect(obtainRegistration(context, found, store, options)).rejects.toMatchObject({
        reason: 'bad_url',
      });
    },
  );
});

describe('when a server names another authorization server', () => {
  async function move(source: Registration['source']) {
    const before = await startAuthorizationServer();
    const set = await setUp();
    const old = testRegistration({
      issuer: before.origin,
      clientId: 'old',
      clientSecret: 'old-secret',
      source,
    });
    await set.store.saveRegistration(old);
    await set.store.saveCredential(
      set.found.server,
      testCredential({ issuer: before.origin, refreshToken: 'old-rt' }),
    );
    return { before, ...set };
  }

  it('nothing of the first one is sent to it, and the client registers anew (A5-10, T-184)', async () => {
    const { as, context, store, found, before } = await move('dynamic');
    const { registration } = await obtainRegistration(context, found, store, { redirectUri });
    expect(registration).toMatchObject({ issuer: as.origin, source: 'dynamic' });
    expect(registration.clientId).not.toBe('old');
    expect(JSON.stringify(as.requests)).not.toMatch(/old/);
    expect((await store.findRegistration(before.origin))?.clientId).toBe('old');
  });

  it.each([undefined, { clientId: 'old', clientSecret: 'old-secret' }])(
    'a client id the user gave for the first one is an error, not a silent registration (given again: %o) (A5-10, T-184)',
    async (given) => {
      const { as, context, store, found } = await move('given');
      await expect(obtainRegistration(context, found, store, { redirectUri, given })).rejects.toMatchObject({
        reason: 'authorization_server_changed',
      });
      expect(as.asked()).not.toContain('POST /register');
    },
  );

  it('one that the user gives again is refused also where the next login there has another (A5-10, T-184)', async () => {
    const { context, store, found, before } = await move('given');
    await store.saveCredential(found.server, testCredential({ issuer: before.origin, clientId: 'old' }));
    await store.saveRegistration(
      testRegistration({ issuer: before.origin, clientId: 'newer', source: 'given' }),
    );
    for (const given of [undefined, { clientId: 'old', clientSecret: 'old-secret' }])
      await expect(obtainRegistration(context, found, store, { redirectUri, given })).rejects.toMatchObject({
        reason: 'authorization_server_changed',
      });
  });

  it('another client id that the user gives is used there (A5-11)', async () => {
    const { as, context, store, found } = await move('given');
    const given = { clientId: 'second' };
    expect(await obtainRegistration(context, found, store, { redirectUri, given })).toMatchObject({
      registration: { issuer: as.origin, clientId: 'second', clientSecret: undefined },
    });
  });
});

describe('a client registered earlier', () => {
  it.each([
    [200, true],
    [302, true],
    [403, true],
    [500, true],
    [401, true],
  ])('where /authorize answers %i is known: %s', async (status, known) => {
    const server = await startServer({
      'GET /authorize': { status, headers: { location: '/login' }, text: '' },
    });
    expect(await isClientKnown(testContext(), `${server.origin}/authorize?client_id=x`)).toBe(known);
    expect(new Set(server.asked())).toEqual(new Set(['GET /authorize']));
  });

  it.each([
    ['invalid_client', undefined, false],
    ['invalid_request', "Client ID 'x' not found", false],
    ['unauthorized_client', 'Unknown client.', false],
    ['invalid_scope', 'no client has this scope', true],
    ['invalid_target', undefined, true],
    ['invalid_request', 'code_challenge is missing', true],
    ['invalid_request', "Redirect URI 'http://127.0.0.1:4/x' not registered for client", true],
  ])('to whom a program is told %s (%s) is known: %s', async (error, description, known) => {
    for (const status of [400, 401]) {
      const json = { error, error_description: description };
      const told = await startServer({ 'GET /authorize': { status, json } });
      expect(await isClientKnown(testContext(), `${told.origin}/authorize?client_id=x`)).toBe(known);
      const asked = await startServer({
        'GET /authorize': ({ headers }) =>
          headers.accept === 'application/json' ? { status, json } : { status, text: '<title>Sorry</title>' },
      });
      expect(await isClientKnown(testContext(), `${asked.origin}/authorize?client_id=x`)).toBe(known);
    }
  });

  it('is known where a page without a reason answers what is asked for, and forgotten where it answers everything', async () => {
    const server = await startServer({
      'GET /authorize': ({ query }) =>
        query.has('scope') ? { status: 400, text: '<title>Sorry</title>' } : { text: '<form>' },
    });
    const url = `${server.origin}/authorize?client_id=x&scope=reed&resource=r`;
    expect(await isClientKnown(testContext(), url)).toBe(true);
    expect(server.requests.at(-1)?.query.toString()).toBe('client_id=x');
    server.routes['GET /authorize'] = { status: 400, text: 'who?' };
    expect(await isClientKnown(testContext(), url)).toBe(false);
  });

  it('is not forgotten because the server cannot be reached', async () => {
    const check = isClientKnown(testContext(), 'http://127.0.0.1:9/authorize');
    await expect(check).rejects.toMatchObject({ reason: 'unreachable' });
  });
});
