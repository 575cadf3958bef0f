import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import type { ServerMetadata } from '../../src/upstream/metadata.ts';
import { authenticationMethod, requestOptions, serverFor } from '../../src/upstream/token-endpoint.ts';
import { testFolder } from '../client/support/folder.ts';
import { faults } from '../support/upstreams/front.ts';
import { lin } from '../support/upstreams/people.ts';
import { logIn, metadataPath, upstreamFor, useWork } from './subject.ts';

const metadata: ServerMetadata = {
  issuer: 'https://idp.example',
  authorization_endpoint: 'https://idp.example/authorize',
  token_endpoint: 'https://idp.example/token',
  published: {},
};
const standard = { label: 'A', defaults: {} };
const secret = { clientId: 'c', clientSecret: 's' };

describe('the way this server proves itself', () => {
  it.each([
    [undefined, 'client_secret_basic'],
    [['client_secret_post', 'client_secret_basic'], 'client_secret_basic'],
    [['client_secret_post'], 'client_secret_post'],
    [['private_key_jwt'], 'client_secret_basic'],
  ])('is, with a secret at a server of %j, %s (A8-11)', (supported, method) => {
    const given = { ...metadata, token_endpoint_auth_methods_supported: supported };
    expect(authenticationMethod(secret, given, standard)).toBe(method);
  });

  it('is that of the preset, and with a key an assertion', () => {
    const preset = { ...standard, clientAuthentication: 'client_secret_post' as const };
    expect(authenticationMethod(secret, metadata, preset)).toBe('client_secret_post');
    const key = { clientId: 'c', privateKey: { kty: 'EC' } };
    expect(authenticationMethod(key, metadata, preset)).toBe('private_key_jwt');
  });
});

describe('a key of this server', () => {
  const at = useWork();

  it('proves at a real provider who it is; a secret is no proof there any more (A13-02)', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const clientKeyFile = join(testFolder(), 'key.pem');
    writeFileSync(clientKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    at.work.expectKey({ ...(publicKey.export({ format: 'jwk' }) as JWK), alg: 'ES256', use: 'sig' });
    const { clientSecret: _secret, ...settings } = at.work.settings({ clientKeyFile });
    const upstream = await upstreamFor(settings);
    const { tokens } = await logIn(upstream);
    await upstream.revoke(await upstream.refresh(tokens));
    expect(await upstream.clientAuthentication()).toBe('private_key_jwt');
    await at.expectRefused(logIn(await at.client()), 'client_refused');
  });
});

describe('a request to the server', () => {
  it('has the proof of the client where the server wants it', async () => {
    const { as, client, authenticate } = serverFor(
      secret,
      { ...metadata, token_endpoint_auth_methods_supported: ['client_secret_post'] },
      standard,
      0,
    );
    const body = new URLSearchParams();
    await authenticate(as, client, body, new Headers());
    expect(Object.fromEntries(body)).toEqual({ client_id: 'c', client_secret: 's' });
  });

  it('goes through what asks the upstream, under the name of what is asked', async () => {
    const asked: unknown[] = [];
    const options = requestOptions(async (...call) => {
      asked.push(call);
      return new Response();
    }, 'key set');
    const [send] = Object.getOwnPropertySymbols(options)
      .map((symbol) => options[symbol as keyof typeof options])
      .filter((value) => typeof value === 'function');
    await (send as (url: string, init: object) => Promise<Response>)('https://a.example', { method: 'GET' });
    expect(asked).toEqual([['key set', 'https://a.example', { method: 'GET' }]]);
  });
});

describe('revocation', () => {
  const at = useWork();

  describe('tokens that are given back', () => {
    it('are dead: the refresh token goes, and with it the rest (T-093)', async () => {
      const upstream = await at.client();
      const { tokens } = await logIn(upstream);
      await upstream.revoke(tokens);
      expect(at.work.revoked).toEqual([tokens.refreshToken]);
      await at.expectRefused(upstream.refresh(tokens), 'grant_refused', 'ended');
    });

    it('are an access token where there is no more; none of them twice is no fault', async () => {
      const upstream = await at.client();
      const { tokens } = await logIn(upstream);
      const alone = { accessToken: tokens.accessToken, scopes: tokens.scopes };
      await upstream.revoke(alone);
      await upstream.revoke(alone);
      expect(at.work.revoked.slice(-2)).toEqual([tokens.accessToken, tokens.accessToken]);
      await at.expectRefused(upstream.check(tokens), 'user_info_refused', 'ended');
    });

    it('are kept to be given back another time where the upstream fails, or refuses', async () => {
      const upstream = await at.client();
      const { tokens } = await logIn(upstream);
      at.work.fault('/token/revocation', faults.page(503));
      await at.expectRefused(upstream.revoke(tokens), 'server_error', 'unavailable');
      at.work.fault('/token/revocation', faults.json(400, { error: 'canary' }));
      await at.expectRefused(upstream.revoke(tokens), 'revocation_refused');
    });

    it('go nowhere where the upstream has no way', async () => {
      at.work.alter(metadataPath, ({ revocation_endpoint: _none, ...rest }) => rest);
      const upstream = await upstreamFor(at.work.settings());
      const before = at.work.revoked.length;
      await upstream.revoke((await logIn(upstream, { person: lin })).tokens);
      expect(at.work.revoked).toHaveLength(before);
    });
  });
});
