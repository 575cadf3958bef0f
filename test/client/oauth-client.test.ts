import {
  compactVerify,
  decodeJwt,
  decodeProtectedHeader,
  exportPKCS8,
  generateKeyPair,
  jwtVerify,
} from 'jose';
import * as oauth from 'oauth4webapi';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readPrivateKey } from '../../src/client/client-key.ts';
import {
  ClientError,
  createMemoryStore,
  freshCredential,
  loginToServerWithDevice,
  loginWithClientCredentials,
  loginWithCode,
  type Registration,
} from '../../src/client/index.ts';
import {
  type ClientIdentity,
  clientAuthentication,
  oauthClient,
  readRefusal,
  resourceParameter,
} from '../../src/client/oauth-client.ts';
import { headlessAgent } from './support/agent.ts';
import { startOfTime, testContext } from './support/context.ts';
import { testRegistration } from './support/credentials.ts';
import { offerDeviceLogin } from './support/device-login.ts';
import { startAuthorizationServer, startMcpServer } from './support/protected-server.ts';

async function authenticate(registration: Registration, supported?: string[]) {
  const body = new URLSearchParams();
  const headers = new Headers();
  await clientAuthentication(registration, supported)(
    { issuer: 'https://as' },
    { client_id: 'client' },
    body,
    headers,
  );
  return { body: body.toString(), authorization: headers.get('authorization') };
}

describe('client authentication', () => {
  const secret = { clientSecret: 's:e-c_é' };
  const basic = { body: '', authorization: `Basic ${btoa('client:s%3Ae-c_%C3%A9')}` };
  const post = { body: 'client_id=client&client_secret=s%3Ae-c_%C3%A9', authorization: null };
  const none = { body: 'client_id=client', authorization: null };

  it.each([
    ['none for a public client', {}, undefined, none],
    [
      'none for a client registered so, whatever the answer held',
      { ...secret, tokenEndpointAuthMethod: 'none' },
      undefined,
      none,
    ],
    ['Basic, form-encoded, where nothing is said', secret, undefined, basic],
    ['Basic where both are offered', secret, ['client_secret_post', 'client_secret_basic'], basic],
    ['POST where only that is offered', secret, ['client_secret_post'], post],
    [
      'what the registration says',
      { ...secret, tokenEndpointAuthMethod: 'client_secret_post' },
      ['client_secret_basic'],
      post,
    ],
  ])('is %s (A8-11)', async (_, overrides, supported, sent) => {
    expect(await authenticate(testRegistration(overrides), supported)).toEqual(sent);
  });
});

describe('an assertion of a client (private_key_jwt)', () => {
  const issuer = 'https://as.example/tenant';
  const algorithms = ['ES256', 'ES384', 'RS256', 'PS256', 'EdDSA'];

  async function assertion(client: ClientIdentity) {
    const body = new URLSearchParams();
    const headers = new Headers();
    const authenticate = clientAuthentication({ ...client }, ['private_key_jwt']);
    await authenticate({ issuer }, oauthClient(testContext(), client.clientId), body, headers);
    expect(headers.has('authorization')).toBe(false);
    return body;
  }

  it.each(algorithms)('is signed with %s, for this issuer, for a minute (A13-02)', async (algorithm) => {
    // The clock of the library stands still: a second that is over in between would be one more.
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
    const key = await readPrivateKey(await exportPKCS8(privateKey), { algorithm, keyId: 'k' });
    const body = await assertion({ clientId: 'client', privateKey: key });
    expect(body.get('client_assertion_type')).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
    const { payload, protectedHeader } = await jwtVerify(body.get('client_assertion') ?? '', publicKey, {
      issuer: 'client',
      subject: 'client',
      audience: issuer,
      currentDate: new Date(startOfTime * 1000),
      requiredClaims: ['jti', 'iat'],
    });
    expect(protectedHeader).toMatchObject({ alg: algorithm, kid: 'k' });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60);
  });

  it('is another one each time (A13-02)', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    const ids = await Promise.all(
      [1, 2].map(async () =>
        decodeJwt((await assertion({ clientId: 'client', privateKey })).get('client_assertion') ?? ''),
      ),
    );
    expect(ids[0]?.jti).not.toBe(ids[1]?.jti);
  });

  it('is signed by a key that cannot leave its keeper, too', async () => {
    const { publicKey, privateKey } = await generateKeyPair('EdDSA');
    expect(privateKey.extractable).toBe(false);
    const sent = (await assertion({ clientId: 'client', privateKey })).get('client_assertion') ?? '';
    expect(decodeProtectedHeader(sent).alg).toBe('EdDSA');
    await expect(compactVerify(sent, publicKey)).resolves.toBeDefined();
  });

  it('is needed where the client is registered so: a secret does not stand in for it', () => {
    const client = { clientId: 'c', clientSecret: 's', tokenEndpointAuthMethod: 'private_key_jwt' };
    expect(() => clientAuthentication(client)).toThrow(/Give that key/);
  });
});

describe('a refusal of an OAuth endpoint', () => {
  const as = { issuer: 'https://as' };
  const client = { client_id: 'client' };
  const read = async (response: Response) =>
    readRefusal(
      await oauth.processRefreshTokenResponse(as, client, response).catch((thrown: unknown) => thrown),
      'token endpoint',
    );

  it('gives its code and its description, quoted', async () => {
    const body = { error: 'invalid_grant', error_description: 'no \u001b[31mway' };
    expect(await read(Response.json(body, { status: 400 }))).toEqual({
      error: 'invalid_grant',
      message: 'The token endpoint refused: "invalid_grant" ("no \\u001b[31mway").',
    });
  });

  it('is read from the body where the answer has a challenge too', async () => {
    const headers = { 'www-authenticate': 'Basic realm="as"' };
    expect(await read(Response.json({ error: 'invalid_client' }, { status: 401, headers }))).toMatchObject({
      error: 'invalid_client',
    });
  });

  it('is a guess where a challenge has no reason, as of a proxy in between', async () => {
    const headers = { 'www-authenticate': 'Basic realm="proxy"' };
    expect(await read(new Response('no', { status: 401, headers }))).toEqual({
      error: 'invalid_client',
      isGuess: true,
      message: 'The token endpoint refused with status 401 and no reason.',
    });
  });

  it('repeats nothing of a malformed answer: it may hold tokens (T-191)', async () => {
    const refusal = await read(Response.json({ access_token: 7, refresh_token: 'very-secret' }));
    expect(refusal.error).toBeUndefined();
    expect(JSON.stringify(refusal)).not.toContain('very-secret');
  });

  it('lets failures of the request pass', async () => {
    const failure = new ClientError('unreachable', 'no');
    await expect(readRefusal(failure, 'x')).rejects.toBe(failure);
  });
});

describe('resource parameter', () => {
  async function setUp() {
    const as = await startAuthorizationServer();
    const mcp = await startMcpServer(as, { scopes: ['read'] });
    const store = createMemoryStore();
    const refuse = (name: string): void => {
      const route = as.routes[name];
      as.routes[name] = (request) => {
        if (request.body.includes('resource=') || request.query.has('resource'))
          return { status: 400, json: { error: 'invalid_target' } };
        return typeof route === 'function' ? route(request) : (route ?? {});
      };
    };
    return { as, mcp, store, context: testContext(), refuse };
  }

  describe('the resource parameter', () => {
    it('is sent, unless the user leaves it out (A7-01)', () => {
      expect(resourceParameter({ resource: 'https://mcp' })).toEqual({ resource: 'https://mcp' });
      expect(resourceParameter({ resource: 'https://mcp', withoutResource: true })).toEqual({});
    });

    it('that is left out is so at the authorization, for the code and at each renewal (CL-5)', async () => {
      const { mcp, store, context, refuse } = await setUp();
      for (const name of ['GET /authorize', 'POST /token']) refuse(name);
      const options = { store, agent: headlessAgent() };
      await expect(loginWithCode(context, mcp.url, options)).rejects.toThrow();
      const { credential } = await loginWithCode(context, mcp.url, { ...options, withoutResource: true });
      expect(credential).toMatchObject({ resource: mcp.url, withoutResource: true });
      const renewed = await freshCredential(context, store, mcp.url, credential.accessToken);
      expect(renewed).toMatchObject({ withoutResource: true });
      expect(renewed?.accessToken).not.toBe(credential.accessToken);
    });

    it('is left out of device logins, too, and of what a machine asks for and repeats (CL-5)', async () => {
      const device = await setUp();
      offerDeviceLogin(device.as);
      for (const name of ['POST /device_authorization', 'POST /token']) device.refuse(name);
      const shown = { store: device.store, show: () => undefined, withoutResource: true };
      await loginToServerWithDevice(device.context, device.mcp.url, shown);

      const { as, mcp, store, context, refuse } = await setUp();
      let issued = 0;
      as.routes['POST /token'] = () => ({ json: { access_token: `at-${++issued}`, token_type: 'Bearer' } });
      refuse('POST /token');
      const client = { clientId: 'ci', clientSecret: 's' };
      await loginWithClientCredentials(context, mcp.url, { store, client, withoutResource: true });
      expect((await freshCredential(context, store, mcp.url, 'at-1'))?.accessToken).toBe('at-2');
    });
  });
});
