import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { testFolder } from '../../client/support/folder.ts';
import { asserting, type ClientKey, createClientKey } from '../../support/client-keys.ts';
import { type DocumentHost, startDocumentHost, trustDocumentHosts } from '../../support/document-host.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { post, redeem, refresh, register } from '../../support/oauth.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { serveProcess } from '../attacks/support/served-process.ts';
import { expectRefused, expectTokens, generousLimits, obtainCode } from './subject.ts';

// Over src/authorization-server/client-keys/client-keys.ts and src/authorization-server/engine/client-adapter.ts.

const often = { times: 100_000, windowSeconds: 60 };

let host: DocumentHost;
let gatehouse: RunningGatehouse;
let key: ClientKey;
beforeAll(async () => {
  trustDocumentHosts();
  host = await startDocumentHost();
  key = await createClientKey('ES256', 'k');
  gatehouse = await startGatehouse({
    dangerously: { fetchFromLoopback: true },
    limits: { ...generousLimits, metadataDocuments: often, metadataDocumentsPerHost: often },
  });
});
afterAll(async () => {
  await gatehouse.stop();
  await host.stop();
});

async function registered(path: string): Promise<string> {
  const keys = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `${host.origin}${path}` };
  return (await register(gatehouse.url, keys)).client_id;
}

/** A refresh with a token nobody has: `invalid_grant` says that the client was let in. */
async function attempt(id: string, at = gatehouse): Promise<Response> {
  const assertion = await key.sign(id, at.url);
  return post(`${at.url}/token`, {
    grant_type: 'refresh_token',
    refresh_token: 'x',
    ...asserting(assertion),
  });
}

function publish(
  path: string,
  body: unknown = { keys: [key.jwk] },
  headers: Record<string, string> = {},
): void {
  host.serve(path, (_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body)),
  );
}

/** What is served in the place of keys. */
const faulty = [
  '/endless',
  '/declared',
  '/drip',
  '/elsewhere',
  '/bomb',
  '/page',
  '/many',
  '/crowd',
  '/private',
  '/none',
];

/** Serves all of it. */
function publishFaulty(): void {
  const large = Buffer.alloc(1024 * 1024, 'x');
  host.serve('/endless', (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const pour = (): void => {
      while (!response.destroyed && response.write(large));
      if (!response.destroyed) response.once('drain', pour);
    };
    pour();
  });
  host.serve('/declared', (_request, response) =>
    response.writeHead(200, { 'content-length': String(2 ** 30) }).write('{'),
  );
  host.serve('/drip', (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const drip = setInterval(() => response.write(' '), 100);
    response.on('close', () => clearInterval(drip));
  });
  host.serve('/elsewhere', (_request, response) =>
    response.writeHead(302, { location: 'https://127.0.0.1:1/keys' }).end(),
  );
  host.serve('/bomb', (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50_000_000, ' '))),
  );
  host.serve('/page', (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>keys</html>'),
  );
  publish('/many', { keys: Array(10_000).fill({ kty: 'EC' }) });
  publish('/crowd', { keys: Array(21).fill(key.jwk) });
  publish('/private', { keys: [{ ...key.jwk, d: 'd' }] });
}

describe('a client with keys at a URL', () => {
  it('authenticates; nobody asks for its keys before it sends an assertion, or for a bad one (A5-07, T-057)', async () => {
    publish('/good.json');
    const id = await registered('/good.json');
    const { flow, code } = await obtainCode(gatehouse, id);
    await post(`${gatehouse.url}/token`, { grant_type: 'refresh_token', client_id: id, refresh_token: 'x' });
    const hopeless = await key.sign(id, 'https://elsewhere.example');
    await post(`${gatehouse.url}/token`, { grant_type: 'refresh_token', ...asserting(hopeless) });
    expect(host.requests).not.toContain('/good.json');
    await expectTokens(await redeem(gatehouse.url, flow, code, asserting(await key.sign(id, gatehouse.url))));
    await expectRefused(await attempt(id), 'invalid_grant');
    expect(host.requests.filter((path) => path === '/good.json')).toHaveLength(1);
  });

  it('whose keys are no keys is refused, within three seconds (T-057)', async () => {
    publishFaulty();
    for (const path of faulty) {
      const id = await registered(path);
      const begun = performance.now();
      const response = await attempt(id);
      expect(performance.now() - begun, path).toBeLessThan(4_000);
      expect(response.headers.get('retry-after'), path).toBe('30');
      expect(await response.clone().json(), path).toMatchObject({
        error_description: expect.stringMatching(/^the keys of the client at localhost:\d+ cannot be used: /),
      });
      await expectRefused(response, 'invalid_client', 401);
      await attempt(id);
      const fetched = host.requests.filter((asked) => asked === path);
      expect(fetched.length, path).toBeGreaterThan(0);
      expect(fetched.length, path).toBeLessThanOrEqual(nodeCount);
    }
  });

  it('does not cost 20 MB with all kinds of such keys at once, in a process that has settled (T-057)', async () => {
    publishFaulty();
    const folder = testFolder();
    await writeFile(join(folder, 'ca.pem'), host.certificate);
    const served = await serveProcess(
      {
        dangerously: { fetchFromLoopback: true },
        limits: { ...generousLimits, metadataDocuments: often, metadataDocumentsPerHost: often },
      },
      { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') },
    );
    onTestFinished(() => served.stop());
    const keysAt = async (path: string): Promise<string> => {
      const { client_id } = await register(served.url, {
        token_endpoint_auth_method: 'private_key_jwt',
        jwks_uri: `${host.origin}${path}`,
      });
      const assertion = await key.sign(client_id, served.url);
      const response = await post(`${served.url}/token`, {
        grant_type: 'refresh_token',
        refresh_token: 'x',
        ...asserting(assertion),
      });
      return ((await response.json()) as { error: string }).error;
    };
    for (let at = 0; at < 200; at++) {
      publish(`/settled-${at}.json`);
      expect(await keysAt(`/settled-${at}.json`)).toBe('invalid_grant');
    }
    const before = served.residentBytes();
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, served.residentBytes())), 10);
    onTestFinished(() => clearInterval(watch));
    const answers = await Promise.all(faulty.map(keysAt));
    expect(answers).toEqual(faulty.map(() => 'invalid_client'));
    expect(peak - before).toBeLessThan(20 * 1024 * 1024);
  });

  it('on this machine or a private network is not looked for (T-056, T-057)', async () => {
    const guarded = await startGatehouse({ limits: generousLimits });
    const connections = host.connections();
    for (const jwks_uri of [
      `${host.origin}/good.json`,
      `https://127.0.0.1:${host.port}/good.json`,
      'https://10.0.0.1/keys',
      'https://169.254.169.254/latest/meta-data',
      'https://[::1]/keys',
    ]) {
      const client = await register(guarded.url, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri });
      await expectRefused(await attempt(client.client_id, guarded), 'invalid_client', 401);
    }
    expect(host.connections()).toBe(connections);
    await guarded.stop();
  });
});

describe('a client that is known by a document', () => {
  const redirect_uris = ['http://127.0.0.1:53682/callback'];

  it('may have keys, in it or elsewhere, and then has to use them (A5-07)', async () => {
    publish('/doc-keys.json');
    for (const [path, keys] of [
      ['/inline.json', { jwks: { keys: [key.jwk] } }],
      ['/linked.json', { jwks_uri: `${host.origin}/doc-keys.json` }],
    ] as const) {
      const id = host.publish(path, {
        redirect_uris,
        token_endpoint_auth_method: 'private_key_jwt',
        ...keys,
      });
      const { flow, code } = await obtainCode(gatehouse, id);
      await expectRefused(await redeem(gatehouse.url, flow, code), 'invalid_client', 401);
      const assertion = asserting(await key.sign(id, gatehouse.url));
      await expectTokens(await redeem(gatehouse.url, flow, code, assertion));
    }
  });

  it('that may do either is let in without an assertion, but never with a bad one, as ChatGPT (AS-11)', async () => {
    publish('/either-keys.json');
    const id = host.publish('/either.json', {
      redirect_uris,
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      jwks_uri: `${host.origin}/either-keys.json`,
    });
    const { flow, code } = await obtainCode(gatehouse, id);
    const stranger = await createClientKey('ES256', 'k');
    const forged = asserting(await stranger.sign(id, gatehouse.url));
    await expectRefused(await redeem(gatehouse.url, flow, code, forged), 'invalid_client', 401);
    const tokens = await expectTokens(await redeem(gatehouse.url, flow, code));
    const assertion = asserting(await key.sign(id, gatehouse.url));
    const next = await expectTokens(await refresh(gatehouse.url, id, tokens.refresh_token, assertion));
    const both = await Promise.all(
      Array.from({ length: 10 }, async (_, at) =>
        refresh(
          gatehouse.url,
          id,
          next.refresh_token,
          at % 2 ? asserting(await key.sign(id, gatehouse.url)) : {},
        ),
      ),
    );
    expect(both.map(({ status }) => status)).toEqual(Array(10).fill(200));
  });

  it('with no keys to verify it by is refused with an assertion, and let in without (AS-11)', async () => {
    const id = host.publish('/keyless.json', {
      redirect_uris,
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    });
    const { flow, code } = await obtainCode(gatehouse, id);
    const assertion = asserting(await key.sign(id, gatehouse.url));
    await expectRefused(await redeem(gatehouse.url, flow, code, assertion), 'invalid_client', 401);
    await expectTokens(await redeem(gatehouse.url, flow, code));
  });
});
