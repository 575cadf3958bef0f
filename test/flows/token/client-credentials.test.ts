import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Client,
  ClientCredentialsProvider,
  type OAuthClientProvider,
  PrivateKeyJwtProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { exportJWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { hashClientSecret } from '../../../src/authorization-server/operator-clients/client-secret.ts';
import { testFolder } from '../../client/support/folder.ts';
import { asserting, type ClientKey, createClientKey } from '../../support/client-keys.ts';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, post, redirectUri, register, tryAccess } from '../../support/oauth.ts';
import { createProver } from '../../support/proofs.ts';
import { runGatehouse } from '../../support/served.ts';
import { structured, textsOf } from '../clients/support/answers.ts';
import { expectRefused, generousLimits } from './subject.ts';

// Over src/authorization-server/engine/configuration.ts and src/authorization-server/operator-clients/settings-clients.ts.

const secret = '0123456789abcdef0123456789abcdef';
const otherSecret = 'fedcba9876543210fedcba9876543210';
const grantTypes: ['client_credentials'] = ['client_credentials'];

let gatehouse: RunningGatehouse;
let key: ClientKey;
beforeAll(async () => {
  key = await createClientKey('ES256', 'k');
  const secretFile = join(await mkdtemp(join(tmpdir(), 'gatehouse-secret-')), 'secret');
  await writeFile(secretFile, `${otherSecret}\n`);
  gatehouse = await startGatehouse({
    limits: generousLimits,
    clients: {
      clientCredentials: true,
      preRegistered: [
        {
          clientId: 'robot',
          name: 'The robot',
          authMethod: 'client_secret_basic',
          secretHash: hashClientSecret(secret),
          grantTypes,
          scopes: ['notes:read', 'notes:write'],
        },
        {
          clientId: 'reader',
          name: 'The reader',
          authMethod: 'client_secret_post',
          secretFile,
          grantTypes,
          scopes: ['notes:read'],
        },
        {
          clientId: 'signer',
          name: 'The signer',
          authMethod: 'private_key_jwt',
          jwks: { keys: [key.jwk as Record<string, unknown>] },
          grantTypes,
          scopes: ['notes:read', 'notes:write'],
        },
        {
          clientId: 'expired',
          name: 'A former one',
          authMethod: 'client_secret_post',
          secretHash: hashClientSecret(secret),
          secretExpires: '2020-01-01T00:00:00Z',
          grantTypes,
          scopes: ['notes:read'],
        },
      ],
    },
  });
});
afterAll(() => gatehouse.stop());

const basic = (id: string, value: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${value}`).toString('base64')}`,
});

/** Asks for a token of the robot's own. */
function ask(fields: Record<string, string> = {}, at = gatehouse): Promise<Response> {
  return post(
    `${at.url}/token`,
    { grant_type: 'client_credentials', resource: at.mcpUrl, ...fields },
    basic('robot', secret),
  );
}

async function tokenOf(response: Promise<Response>): Promise<string> {
  const body = (await (await response).json()) as { access_token: string };
  expect(body.access_token).toEqual(expect.any(String));
  return body.access_token;
}

async function connect(authProvider: OAuthClientProvider): Promise<Client> {
  const client = new Client({ name: 'a machine', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(gatehouse.mcpUrl), { authProvider }));
  onTestFinished(() => client.close());
  return client;
}

describe('a client for itself', () => {
  it('gets an access token and nothing else, with all the operator gave it or what it asks of that (A13-02)', async () => {
    const all = await ask();
    expect([all.status, await all.json()]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/^[\w-]{43,}$/),
        expires_in: 3600,
        scope: 'notes:read notes:write',
        token_type: 'Bearer',
      },
    ]);
    expect(await (await ask({ scope: 'notes:read' })).json()).toMatchObject({ scope: 'notes:read' });
    const without = await post(
      `${gatehouse.url}/token`,
      { grant_type: 'client_credentials' },
      basic('robot', secret),
    );
    expect(await tryAccess(gatehouse.mcpUrl, await tokenOf(Promise.resolve(without)))).toBe(200);
  });

  it('counts as used from its first token on, not from a refused request (T-061)', async () => {
    const usedAt = async () => (await gatehouse.storage.clients.find('signer'))?.usedAt;
    expect(
      (await post(`${gatehouse.url}/token`, { grant_type: grantTypes[0], client_id: 'signer' })).ok,
    ).toBe(false);
    expect(await usedAt()).toBeUndefined();
    expect((await ask()).ok).toBe(true);
    expect((await gatehouse.storage.clients.find('robot'))?.usedAt).toEqual(expect.any(Number));
    const listed = await gatehouse.administration.clients.list();
    expect(listed.find(({ clientId }) => clientId === 'robot')?.usedAt).toEqual(expect.any(Number));
  });

  it('never gets more than the operator gave it, nor what does not exist (T-063)', async () => {
    const asReader = (fields: Record<string, string>) =>
      post(`${gatehouse.url}/token`, {
        grant_type: 'client_credentials',
        client_id: 'reader',
        client_secret: otherSecret,
        ...fields,
      });
    expect(await (await asReader({})).json()).toMatchObject({ scope: 'notes:read' });
    const wide = await (await asReader({ scope: 'notes:read notes:write admin openid' })).json();
    expect(wide).toMatchObject({ scope: 'notes:read' });
    await expectRefused(await asReader({ scope: 'notes:write' }), 'invalid_scope');
    await expectRefused(await asReader({ scope: 'openid' }), 'invalid_scope');
    await expectRefused(await asReader({ scope: 'admin' }), 'invalid_scope');
    await expectRefused(await asReader({ resource: 'https://elsewhere.example' }), 'invalid_target');
  });

  it('that may not act for itself is told so, whatever else it may do (T-038)', async () => {
    const app = { name: 'The app', redirectUris: [redirectUri], authMethod: 'client_secret_post' } as const;
    const { clientId, clientSecret = '' } = await gatehouse.administration.clients.add(app);
    const attempt = (client_secret: string) =>
      post(`${gatehouse.url}/token`, {
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret,
      });
    await expectRefused(await attempt(clientSecret), 'unauthorized_client');
    await expectRefused(await attempt('wrong'), 'invalid_client', 401);
    await obtainTokens(gatehouse, { clientId, clientSecret });
  });

  it('finds its grant unsupported when the operator has switched it off, logs people in as before, and gets tokens again later (T-038, A13-11)', async () => {
    const folder = testFolder();
    const settings = { folder, limits: generousLimits };
    const on = await startGatehouse({ ...settings, clients: { clientCredentials: true } });
    const port = Number(new URL(on.url).port);
    const app = { name: 'The app', authMethod: 'client_secret_post', scopes: ['notes:read'] } as const;
    const both = await on.administration.clients.add({
      ...app,
      redirectUris: [redirectUri],
      grantTypes: [
        'authorization_code',
        'refresh_token',
        'client_credentials',
        // Never on here: who is registered for them goes on as well.
        'urn:ietf:params:oauth:grant-type:jwt-bearer',
        'urn:ietf:params:oauth:grant-type:token-exchange',
      ],
    });
    const alone = await on.administration.clients.add({ ...app, grantTypes });
    await on.stop();
    const fields = ({ clientId, clientSecret = '' }: typeof both) => ({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    });
    const off = await startGatehouse({ ...settings, port });
    for (const client of [both, alone]) {
      await expectRefused(await post(`${off.url}/token`, fields(client)), 'unsupported_grant_type');
      const wrong = { ...fields(client), client_secret: 'wrong' };
      await expectRefused(await post(`${off.url}/token`, wrong), 'invalid_client', 401);
    }
    await obtainTokens(off, { ...both, scope: 'notes:read', scopes: ['notes:read'] });
    await off.stop();
    const again = await startGatehouse({ ...settings, port, clients: { clientCredentials: true } });
    onTestFinished(() => again.stop());
    for (const client of [both, alone])
      expect((await post(`${again.url}/token`, fields(client))).status).toBe(200);
  });

  it('has to authenticate as it is registered, while its secret counts (T-047, T-050)', async () => {
    const fields = { grant_type: 'client_credentials' };
    for (const [id, value] of [
      ['robot', 'x'],
      ['robot', hashClientSecret(secret)],
      ['reader', otherSecret],
    ] as const)
      await expectRefused(
        await post(`${gatehouse.url}/token`, fields, basic(id, value)),
        'invalid_client',
        401,
      );
    await expectRefused(
      await post(`${gatehouse.url}/token`, { ...fields, client_id: 'robot' }),
      'invalid_client',
      401,
    );
    const late = { ...fields, client_id: 'expired', client_secret: secret };
    const refused = await post(`${gatehouse.url}/token`, late);
    expect([400, 401]).toContain(refused.status);
    expect(await refused.json()).toMatchObject({ error: 'invalid_client' });
  });

  it('is its own subject: its notes are nobody else’s, and end with it (T-104)', async () => {
    const robot = await connect(
      new ClientCredentialsProvider({
        clientId: 'robot',
        clientSecret: secret,
        expectedIssuer: gatehouse.url,
      }),
    );
    expect(structured(await robot.callTool({ name: 'whoami' }))).toMatchObject({ client: 'robot' });
    await robot.callTool({ name: 'add_note', arguments: { text: 'beep' } });
    const signer = await connect(
      new PrivateKeyJwtProvider({
        clientId: 'signer',
        privateKey: { ...(await exportJWK(key.privateKey)), kid: 'k' } as Record<string, unknown>,
        algorithm: 'ES256',
        expectedIssuer: gatehouse.url,
      }),
    );
    await signer.callTool({ name: 'add_note', arguments: { text: 'signed' } });
    const search = async (client: Client) =>
      textsOf(await client.callTool({ name: 'search_notes', arguments: { query: '' } }));
    expect([await search(robot), await search(signer)]).toEqual([['beep'], ['signed']]);
    const [account] = await gatehouse.administration.accounts.list();
    expect(account?.email).toBe(ada.email);
    expect(await gatehouse.storage.notes.list(account?.id ?? '', 10)).toEqual([]);
    expect((await gatehouse.storage.notes.list('robot', 10)).map(({ text }) => text)).toEqual(['beep']);
  });

  it('is let in by assertion, once each (A13-02, T-049)', async () => {
    const assertion = await key.sign('signer', gatehouse.url);
    const fields = { grant_type: 'client_credentials', ...asserting(assertion) };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post(`${gatehouse.url}/token`, fields)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(401)]);
  });

  it('ends a token by revocation at once', async () => {
    const token = await tokenOf(ask());
    expect(await tryAccess(gatehouse.mcpUrl, token)).toBe(200);
    await post(`${gatehouse.url}/revoke`, { token }, basic('robot', secret));
    expect(await tryAccess(gatehouse.mcpUrl, token)).toBe(401);
  });

  it('logs in with the command line of ours', async () => {
    const folder = testFolder();
    const env = { GATEHOUSE_CONFIG_HOME: folder, XDG_CONFIG_HOME: folder, HOME: folder };
    const { code, stderr } = await runGatehouse(
      [
        'login',
        gatehouse.mcpUrl,
        '--grant',
        'client_credentials',
        '--client-id',
        'robot',
        '--client-secret-stdin',
        '--store',
        'plain',
      ],
      { env, input: secret },
    );
    expect(code, stderr).toBe(0);
  });
});

describe('acting for itself', () => {
  it('is for nobody who registered, or was described by nobody we know (T-063)', async () => {
    const wanted = { token_endpoint_auth_method: 'client_secret_post', grant_types: ['client_credentials'] };
    const client = await register(gatehouse.url, wanted);
    expect(client.grant_types).toEqual(['authorization_code']);
    const refused = await post(`${gatehouse.url}/token`, {
      grant_type: 'client_credentials',
      client_id: client.client_id,
      client_secret: String(client.client_secret),
    });
    expect(refused.status).toBe(400);
  });

  it('is refused, and not spoken of, where the operator did not switch it on (A13-11)', async () => {
    const other = await startGatehouse({ limits: generousLimits });
    onTestFinished(() => other.stop());
    await other.administration.clients.add({
      clientId: 'robot',
      name: 'The robot',
      authMethod: 'client_secret_basic',
      grantTypes,
      scopes: ['notes:read'],
    });
    const metadata = async (at: RunningGatehouse) =>
      (await (await fetch(`${at.url}/.well-known/oauth-authorization-server`)).json()) as {
        grant_types_supported: string[];
      };
    expect((await metadata(other)).grant_types_supported).not.toContain('client_credentials');
    expect((await metadata(gatehouse)).grant_types_supported).toContain('client_credentials');
    expect((await ask({}, other)).status).toBeGreaterThanOrEqual(400);
  });

  it('ends at once where the operator removes the client (T-103)', async () => {
    const added = await gatehouse.administration.clients.add({
      name: 'For a while',
      authMethod: 'client_secret_post',
      grantTypes,
      scopes: ['notes:read'],
    });
    const token = await tokenOf(
      post(`${gatehouse.url}/token`, {
        grant_type: 'client_credentials',
        client_id: added.clientId,
        client_secret: String(added.clientSecret),
      }),
    );
    expect(await tryAccess(gatehouse.mcpUrl, token)).toBe(200);
    await gatehouse.administration.clients.remove(added.clientId);
    expect(await tryAccess(gatehouse.mcpUrl, token)).toBe(401);
  });
});

describe('a client of the settings', () => {
  it('ends with all it was given once it is taken out of them, and cannot be removed otherwise (A5-03)', async () => {
    const folder = testFolder();
    const app = { clientId: 'app', name: 'The app', redirectUris: ['http://127.0.0.1:53682/callback'] };
    const first = await startGatehouse({ folder, clients: { preRegistered: [app] } });
    const { tokens } = await obtainTokens(first, { clientId: 'app' });
    expect(await tryAccess(first.mcpUrl, tokens.access_token)).toBe(200);
    await expect(first.administration.clients.remove('app')).rejects.toThrow(/clients\.preRegistered/);
    const port = Number(new URL(first.url).port);
    await first.stop();
    const second = await startGatehouse({ folder, port });
    onTestFinished(() => second.stop());
    expect(await tryAccess(second.mcpUrl, tokens.access_token)).toBe(401);
    expect(await second.administration.clients.list()).toEqual([]);
  });

  it.each([
    [
      { secretHash: 'plain text', authMethod: 'client_secret_basic' },
      /preRegistered\.0\.secretHash: must be sha256:/,
    ],
    [
      { secretFile: '/nowhere/at/all', authMethod: 'client_secret_basic' },
      /secretFile: \/nowhere\/at\/all cannot be read/,
    ],
    [
      {
        grantTypes,
        authMethod: 'client_secret_basic',
        secretHash: hashClientSecret('x'),
        redirectUris: [],
        scopes: ['notes:read'],
      },
      /needs clients\.clientCredentials to be true/,
    ],
    [{ scopes: ['notes:burn'] }, /there is no notes:burn here/],
    [{ redirectUris: ['http://app.example.com/cb'] }, /redirectUris\.0: is refused/],
    [{ clientSecret: 'x' }, /clientSecret: there is no such setting/],
  ] as const)('that is %j is refused at start', async (change, problem) => {
    const app = { clientId: 'app', name: 'The app', redirectUris: ['https://app.example.com/cb'], ...change };
    await expect(startGatehouse({ clients: { preRegistered: [app as never] } })).rejects.toThrow(problem);
  });

  it('get no bearer token for a resource that takes only bound ones (A13-09)', async () => {
    const strict = await startGatehouse({
      limits: generousLimits,
      tokens: { dpop: { required: true } },
      clients: {
        clientCredentials: true,
        preRegistered: [
          {
            clientId: 'robot',
            name: 'The robot',
            authMethod: 'client_secret_basic',
            secretHash: hashClientSecret(secret),
            grantTypes,
            scopes: ['notes:read'],
          },
        ],
      },
    });
    onTestFinished(() => strict.stop());
    await expectRefused(await ask({}, strict), 'invalid_dpop_proof');
    const prover = await createProver();
    const response = await fetch(`${strict.url}/token`, {
      method: 'POST',
      headers: {
        ...basic('robot', secret),
        dpop: await prover.prove({ url: `${strict.url}/token`, method: 'POST' }),
      },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource: strict.mcpUrl }),
    });
    expect(await response.json()).toMatchObject({ token_type: 'DPoP' });
  });
});
