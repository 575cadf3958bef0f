import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createMemoryStore,
  type DeviceInstructions,
  type DiscoveredServer,
  loopbackRedirectUris,
} from '../../../src/client/index.ts';
import { type LoginProgress, login } from '../../../src/client/node/index.ts';
import { testContext } from '../support/context.ts';
import { offerDeviceLogin } from '../support/device-login.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';

async function setUp(overrides: Record<string, unknown> = {}) {
  const as = await startAuthorizationServer(overrides);
  const mcp = await startMcpServer(as, { scopes: ['read'] });
  const store = createMemoryStore();
  const steps: string[] = [];
  const progress = {
    discovered: ({ model }: DiscoveredServer) => void steps.push(model),
    registered: (_: unknown, how: string) => void steps.push(how),
    open: async (url: string) => {
      steps.push('open');
      await fetch(url);
    },
  };
  const run = (options: Partial<Parameters<typeof login>[2]> = {}, more: Partial<LoginProgress> = {}) =>
    login(testContext(), mcp.url, { store, ...options }, { ...progress, ...more });
  return { as, mcp, store, steps, run };
}

describe('a login', () => {
  it('goes from the URL to tokens in the store, telling each step (A6-06)', async () => {
    const { mcp, store, steps, run } = await setUp();
    const { credential } = await run();
    expect(steps).toEqual(['protected_resource', 'new', 'open']);
    expect(await store.findCredential(mcp.url)).toEqual(credential);
    expect(credential.scopes).toEqual(['read']);
  });

  it('asks for the scopes of the user and with the given client', async () => {
    const { as, run } = await setUp();
    const { credential } = await run({ scopes: ['x', 'y'], given: { clientId: 'mine', clientSecret: 's' } });
    expect(credential).toMatchObject({ clientId: 'mine', scopes: ['x', 'y'] });
    expect(as.requests.find(({ path }) => path === '/token')?.headers.authorization).toBe(
      `Basic ${btoa('mine:s')}`,
    );
    expect(as.asked()).not.toContain('POST /register');
  });

  it('registers again where the server forgot the client', async () => {
    const { as, store, steps, run } = await setUp();
    await run();
    await run();
    const authorize = as.routes['GET /authorize'];
    const forgotten = (await store.findRegistration(as.origin))?.clientId;
    as.routes['GET /authorize'] = (request) => {
      if (request.query.get('client_id') === forgotten) return { status: 400, text: 'who?' };
      return typeof authorize === 'function' ? authorize(request) : {};
    };
    await run();
    expect(steps.filter((step) => ['new', 'kept'].includes(step))).toEqual(['new', 'kept', 'new']);
    expect((await store.findRegistration(as.origin))?.clientId).not.toBe(forgotten);
  });

  it('gets in where the server compares ports: it takes the port it registered, else registers anew (CL-3)', async () => {
    const { as, steps, run } = await setUp();
    const authorize = as.routes['GET /authorize'];
    let known: unknown[] = [];
    as.routes['GET /authorize'] = (request) => {
      const redirectUri = request.query.get('redirect_uri') ?? '';
      const latest = as.requests.findLast(({ path }) => path === '/register');
      known = (JSON.parse(latest?.body ?? '{}') as { redirect_uris: unknown[] }).redirect_uris;
      if (known.includes(redirectUri) && typeof authorize === 'function') return authorize(request);
      const refusal = 'error=invalid_request&error_description=Unregistered+redirect_uri';
      const location = `${redirectUri}?${refusal}&state=${request.query.get('state')}&iss=${as.origin}`;
      return { status: 302, headers: { location }, text: '' };
    };
    await run();
    await run();
    expect(steps.filter((step) => step !== 'open')).toEqual([
      'protected_resource',
      'new',
      'protected_resource',
      'kept',
    ]);
    expect(known).toEqual(expect.arrayContaining([...loopbackRedirectUris]));
    // The page of the login before can be loaded again for a moment.
    const gone = () =>
      fetch(new URL(String(known.at(-1)))).then(
        () => false,
        () => true,
      );
    await expect.poll(gone, { timeout: 10_000 }).toBe(true);
    const taken = createServer();
    await new Promise<void>((resolve) =>
      taken.listen(Number(new URL(String(known.at(-1))).port), '127.0.0.1', resolve),
    );
    onTestFinished(() => void taken.close());
    await run();
    expect(steps.slice(-4)).toEqual(['protected_resource', 'kept', 'new', 'open']);
  }, 20_000);

  it('forgets the client where the token endpoint does not know it', async () => {
    const { as, mcp, store, run } = await setUp();
    as.routes['POST /token'] = { status: 401, json: { error: 'invalid_client' } };
    await expect(run()).rejects.toMatchObject({ reason: 'client_unknown' });
    expect(await store.findRegistration(as.origin)).toBeUndefined();
    expect(await store.findCredential(mcp.url)).toBeUndefined();
  });

  it('keeps nothing where the answer comes from another issuer (A6-08, T-187)', async () => {
    const { as, mcp, store, run } = await setUp();
    as.routes['GET /authorize'] = ({ query }) => ({
      status: 302,
      headers: {
        location: `${query.get('redirect_uri')}?code=c&iss=https://evil&state=${query.get('state')}`,
      },
      text: '',
    });
    await expect(run()).rejects.toMatchObject({ reason: 'issuer_mismatch' });
    expect(as.asked()).not.toContain('POST /token');
    expect(await store.findCredential(mcp.url)).toBeUndefined();
  });

  it('ends when nobody comes back', async () => {
    const { run } = await setUp();
    await expect(run({ timeoutMs: 50 }, { open: async () => undefined })).rejects.toMatchObject({
      reason: 'login_timed_out',
    });
  });

  it('ends at once where the server refuses what is asked for, and no browser opens', async () => {
    const { as, steps, run } = await setUp();
    as.routes['GET /authorize'] = ({ query }) => {
      const answer = { error: 'invalid_scope', state: query.get('state') ?? '', iss: as.origin };
      return {
        status: 302,
        headers: { location: `${query.get('redirect_uri')}?${new URLSearchParams(answer)}` },
        text: '',
      };
    };
    await expect(run({ scopes: ['bogus'] })).rejects.toMatchObject({
      reason: 'authorization_denied',
      message: expect.stringContaining('"invalid_scope"'),
    });
    expect(steps).not.toContain('open');
  });

  it('closes its listener where the URL cannot be opened', async () => {
    const { run } = await setUp();
    let redirect = '';
    const open = async (url: string): Promise<void> => {
      redirect = new URL(url).searchParams.get('redirect_uri') ?? '';
      throw new Error('no browser');
    };
    await expect(run({}, { open })).rejects.toThrow('no browser');
    await expect(fetch(redirect)).rejects.toThrow();
  });
});

describe('a login by a code on another device (CL-6)', () => {
  async function setUpDevice(overrides: Record<string, unknown> = {}) {
    const set = await setUp(overrides);
    const seen = offerDeviceLogin(set.as);
    const shown: DeviceInstructions[] = [];
    const more = { showCode: (instructions: DeviceInstructions) => void shown.push(instructions) };
    return { ...set, seen, shown, more };
  }

  it('shows the code and keeps the login, without a browser', async () => {
    const { as, mcp, store, steps, shown, more, run } = await setUpDevice();
    const { credential } = await run({ device: 'always' }, more);
    expect(await store.findCredential(mcp.url)).toEqual(credential);
    expect(shown).toMatchObject([{ userCode: 'WDJB-MJHT', url: `${as.origin}/device` }]);
    expect(steps).toEqual(['protected_resource', 'new']);
  });

  it('needs no PKCE, which protects codes of a browser, where it is the only way', async () => {
    const { more, run } = await setUpDevice({ code_challenge_methods_supported: undefined });
    await expect(run({ device: 'where_offered' }, more)).rejects.toMatchObject({ reason: 'no_pkce' });
    expect((await run({ device: 'always' }, more)).credential.accessToken).toBeTruthy();
  });

  it('is chosen where it is offered, and nowhere else', async () => {
    const offered = await setUpDevice();
    await offered.run({ device: 'where_offered' }, offered.more);
    expect([offered.shown.length, offered.steps.includes('open')]).toEqual([1, false]);
    const { run, steps } = await setUp();
    await run({ device: 'where_offered' });
    expect(steps).toContain('open');
    await expect(run({ device: 'always' })).rejects.toMatchObject({ reason: 'no_metadata' });
  });

  it('gives way to the code flow where the server does not begin it', async () => {
    const { as, steps, more, run } = await setUpDevice();
    as.routes['POST /device_authorization'] = { status: 400, json: { error: 'invalid_scope' } };
    await run({ device: 'where_offered' }, more);
    expect(steps).toContain('open');
  });

  it('ends when nobody enters the code', async () => {
    const { as, more, run } = await setUpDevice();
    as.routes['POST /token'] = { status: 400, json: { error: 'authorization_pending' } };
    await expect(run({ device: 'where_offered', timeoutMs: 100 }, more)).rejects.toMatchObject({
      reason: 'login_timed_out',
      message: expect.stringContaining('was not entered'),
    });
  });
});
