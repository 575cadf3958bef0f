import { describe, expect, it } from 'vitest';
import {
  createMemoryStore,
  type DeviceServerLoginOptions,
  deviceAuthorizer,
  freshCredential,
  loginToServerWithDevice,
  withAuthorization,
} from '../../../src/client/index.ts';
import { testRegistration } from '../support/credentials.ts';
import { type OidcServer, realContext, startOidcServer } from '../support/oidc-server.ts';

function options(server: OidcServer, choice: 'allow' | 'deny' = 'allow'): DeviceServerLoginOptions {
  return {
    store: createMemoryStore(),
    show: ({ userCode }) => server.enterCode(userCode, choice),
    scopes: ['read'],
  };
}

/** oidc-provider names no interval, which means five seconds; a test asks after one. */
function hastyContext() {
  const context = realContext();
  const fetch: typeof context.fetch = async (url, init) => {
    const response = await context.fetch(url, init);
    if (!String(url).endsWith('/device/auth') || !response.ok) return response;
    return Response.json({ ...Object(await response.json()), interval: 1 });
  };
  return { ...context, fetch };
}

describe('a whole login by device code', () => {
  it('goes from the URL to a login that works and can be renewed', async () => {
    const server = await startOidcServer();
    const context = hastyContext();
    const chosen = options(server);
    const { credential } = await loginToServerWithDevice(context, server.url, chosen);
    const send = withAuthorization(context, server.url, chosen.store);
    expect(await (await send(server.url, { method: 'POST' })).json()).toMatchObject({ sub: 'ann' });
    const fresh = await freshCredential(context, chosen.store, server.url, credential.accessToken);
    expect(fresh?.accessToken).not.toBe(credential.accessToken);
    const registration = await chosen.store.findRegistration(server.issuer);
    expect(registration).toMatchObject({ source: 'dynamic', clientId: credential.clientId });
  });

  it('registers with the initial access token it was given, and shows it at no other endpoint (A5-02)', async () => {
    const server = await startOidcServer();
    const context = hastyContext();
    const shownAt: string[] = [];
    const fetch: typeof context.fetch = (url, init) => {
      const isShown = new Headers(init?.headers).get('authorization') === 'Bearer invited';
      if (isShown) shownAt.push(`${init?.method} ${new URL(String(url)).pathname}`);
      return context.fetch(url, init);
    };
    await loginToServerWithDevice({ ...context, fetch }, server.url, {
      ...options(server),
      initialAccessToken: 'invited',
    });
    expect(shownAt).toEqual(['POST /reg']);
  });

  it('that is declined is refused, and nothing is kept', async () => {
    const server = await startOidcServer();
    const chosen = options(server, 'deny');
    await expect(loginToServerWithDevice(hastyContext(), server.url, chosen)).rejects.toMatchObject({
      reason: 'authorization_denied',
    });
    expect(await chosen.store.findCredential(server.url)).toBeUndefined();
  });

  it('registers again, once, where the server has forgotten the client; never in place of a given one', async () => {
    const server = await startOidcServer();
    const chosen = options(server);
    const forgotten = testRegistration({ issuer: server.issuer, clientId: 'forgotten' });
    await chosen.store.saveRegistration(forgotten);
    const authorize = deviceAuthorizer(hastyContext(), chosen);
    const need = { server: server.url, why: 'no_credential' as const, challenge: null };
    const { clientId } = await authorize(need);
    expect(clientId).not.toBe('forgotten');
    await chosen.store.saveRegistration({ ...forgotten, source: 'given' });
    await expect(authorize(need)).rejects.toMatchObject({ reason: 'client_unknown' });
    expect(await chosen.store.findRegistration(server.issuer)).toMatchObject({ clientId: 'forgotten' });
  });

  it('keeps no client that was given and is unknown: the one before is there again', async () => {
    const server = await startOidcServer();
    const chosen = options(server);
    const { clientId } = (await loginToServerWithDevice(hastyContext(), server.url, chosen)).credential;
    const misspelt = { ...chosen, given: { clientId: 'misspelt' } };
    await expect(loginToServerWithDevice(hastyContext(), server.url, misspelt)).rejects.toMatchObject({
      reason: 'client_unknown',
    });
    expect(await chosen.store.findRegistration(server.issuer)).toMatchObject({ clientId });
  });

  it('keeps no client that was given where its user declined', async () => {
    const server = await startOidcServer();
    const { clientId } = (await loginToServerWithDevice(hastyContext(), server.url, options(server)))
      .credential;
    const chosen = { ...options(server, 'deny'), given: { clientId } };
    await expect(loginToServerWithDevice(hastyContext(), server.url, chosen)).rejects.toMatchObject({
      reason: 'authorization_denied',
    });
    expect(await chosen.store.findRegistration(server.issuer)).toBeUndefined();
  });

  it('gives a token that is bound to a key, where the server takes no other, and so does its renewal (A13-09)', async () => {
    const server = await startOidcServer({ dpop: true, nonces: true });
    const context = hastyContext();
    const chosen = options(server);
    const { credential } = await loginToServerWithDevice(context, server.url, chosen);
    expect(credential.dpopKey).toMatchObject({ alg: 'ES256' });
    const send = withAuthorization(context, server.url, chosen.store);
    const call = async () => (await send(server.url, { method: 'POST' })).json();
    expect(await call()).toMatchObject({ sub: 'ann' });
    const fresh = await freshCredential(context, chosen.store, server.url, credential.accessToken);
    expect(fresh?.accessToken).not.toBe(credential.accessToken);
    expect(fresh?.dpopKey).toEqual(credential.dpopKey);
    expect(await call()).toMatchObject({ sub: 'ann' });
  });
});
