import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { testFolder } from '../../client/support/folder.ts';
import { startDocumentHost, trustDocumentHosts } from '../../support/document-host.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { post, tryAccess } from '../../support/oauth.ts';
import { runGatehouse } from '../../support/served.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { createTestIssuer, type TestIssuer } from '../../support/trusted-issuer.ts';
import { expectRefused, expectTokens, generousLimits } from '../token/subject.ts';
import { clientWithSecret, jwtBearer } from './subject.ts';

// Over src/authorization-server/trusted-issuers/workload-grant.ts, src/authorization-server/trusted-issuers/assertion.ts
// and src/authorization-server/trusted-issuers/jwt-bearer-grant.ts.

const now = (): number => Math.floor(Date.now() / 1000);
const open = { authMethod: 'none' as const, secretHash: undefined };

let gatehouse: RunningGatehouse;
let platform: TestIssuer;
beforeAll(async () => {
  platform = await createTestIssuer('https://token.platform.example');
  gatehouse = await startGatehouse({
    limits: generousLimits,
    trustedIssuers: [
      {
        issuer: platform.issuer,
        jwks: platform.jwks,
        workloads: [
          {
            clientId: 'deploy',
            claims: { sub: 'repo:example/app:*', repository: 'example/app' },
            scopes: ['notes:read'],
          },
        ],
      },
    ],
    clients: { preRegistered: [clientWithSecret('deploy', open), clientWithSecret('other', open)] },
  });
});
afterAll(() => gatehouse.stop());

const identity = (claims = {}, header = {}, of = platform): Promise<string> =>
  of.assertWorkload(gatehouse.url, { repository: 'example/app', ...claims }, header);

const present = (assertion: string, fields = {}, at = gatehouse): Promise<Response> =>
  post(`${at.url}/token`, { grant_type: jwtBearer, client_id: 'deploy', assertion, ...fields });

describe('a workload', () => {
  it('gets a token of its client with the identity its platform gave it, as often as that is in force (A13-10)', async () => {
    const jwt = await identity();
    const tokens = await expectTokens(await present(jwt, { resource: gatehouse.mcpUrl }));
    expect(tokens).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: expect.any(Number),
      scope: 'notes:read',
    });
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
    await expectTokens(await present(jwt));
    expect(gatehouse.log.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        audit: 'workload.accepted',
        clientId: 'deploy',
        issuer: platform.issuer,
        subject: decodeJwt(jwt).sub,
      }),
    );
  });

  it('has its token no longer than its identity (A13-10)', async () => {
    const { expires_in } = await expectTokens(await present(await identity({ exp: now() + 100 })));
    expect(expires_in).toBeGreaterThan(80);
    expect(expires_in).toBeLessThanOrEqual(100);
  });

  it.each([
    ['of another repository', { repository: 'example/other' }, {}],
    ['without the claim', { repository: undefined }, {}],
    ['with the claim as a list', { repository: ['example/app'] }, {}],
    ['of another subject', { sub: 'repo:example/app2:ref' }, {}],
    ['for another server', { aud: 'https://other.example' }, {}],
    ['for several servers', { aud: ['US', 'https://other.example'] }, {}],
    ['that has expired', { exp: now() - 60 }, {}],
    ['that lives for longer than a day', { exp: now() + 100_000 }, {}],
    ['without an end', { exp: undefined }, {}],
    ['from the future', { iat: now() + 120 }, {}],
    ['of ten years ago, with an exp of today (FA-16, T-216)', { iat: now() - 315_360_000 }, {}],
    ['of more than a day ago (FA-16, T-216)', { iat: now() - 90_000 }, {}],
    ['that is an ID token by its nonce (FA-16, T-216)', { nonce: 'n' }, {}],
    ['that is an ID token by an empty nonce (FA-16, T-216)', { nonce: null }, {}],
    ['that is an ID token by its login (FA-16, T-216)', { auth_time: now() }, {}],
    ['that is an ID token by the hash of an access token (FA-16, T-216)', { at_hash: 'h' }, {}],
    ['that is an ID token by the hash of a code (FA-16, T-216)', { c_hash: 'h' }, {}],
    ['that is an ID token by the hash of a state (FA-16, T-216)', { s_hash: 'h' }, { typ: undefined }],
    ['whose type is a list (FA-15, T-215)', {}, { typ: ['JWT'] }],
    ['that is bound to a key in a way not known (FA-16, T-216)', { cnf: { jwk: {} } }, {}],
    ['that is bound to no key (FA-16, T-216)', { cnf: null }, {}],
    ['of another issuer', { iss: 'https://other.example' }, {}],
    ['of the type of an access token', {}, { typ: 'at+jwt' }],
    ['of the type of a logout token', {}, { typ: 'logout+jwt' }],
    ['that would speak for a person', { client_id: 'deploy', jti: 'j' }, { typ: 'oauth-id-jag+jwt' }],
    ['of another key', {}, { kid: 'k2' }],
  ] as const)('%s is refused (A13-10)', async (_what, claims, header) => {
    const ours = JSON.parse(JSON.stringify(claims).replaceAll('US', gatehouse.url));
    await expectRefused(await present(await identity({ ...claims, ...ours }, header)), 'invalid_grant');
  });

  it('is not who somebody else says it is, nor another client, nor more than it may be (A13-10)', async () => {
    const impostor = await createTestIssuer(platform.issuer);
    await expectRefused(await present(await identity({}, {}, impostor)), 'invalid_grant');
    await expectRefused(await present(await identity(), { client_id: 'other' }), 'invalid_grant');
    await expectRefused(await present(await identity(), { scope: 'notes:write' }), 'invalid_scope');
    await expectRefused(await present(await identity(), { resource: 'https://x.example' }), 'invalid_target');
  });

  it('may have claims of platforms that ID tokens have too (A13-10)', async () => {
    const shared = { azp: 'app', acr: '1', email: 'job@example.com', email_verified: true, sid: 's' };
    await expectTokens(await present(await identity({ ...shared, iat: now() - 80_000 })));
  });

  it('without a type in the header, as in Kubernetes, is let in as well (A13-10)', async () => {
    await expectTokens(await present(await identity({}, { typ: undefined })));
  });

  it('loses its token with its client (T-103)', async () => {
    const own = await startGatehouse({
      limits: generousLimits,
      trustedIssuers: [
        {
          issuer: platform.issuer,
          jwks: platform.jwks,
          workloads: [{ clientId: 'job', claims: { sub: '*example*' }, scopes: ['notes:read'] }],
        },
      ],
    });
    onTestFinished(() => own.stop());
    await own.administration.clients.add({ clientId: 'job', name: 'A job', grantTypes: [jwtBearer] });
    const jwt = await platform.assertWorkload(own.url);
    const { access_token: token } = await expectTokens(await present(jwt, { client_id: 'job' }, own));
    expect(await tryAccess(own.mcpUrl, token)).toBe(200);
    await own.administration.clients.remove('job');
    expect(await tryAccess(own.mcpUrl, token)).toBe(401);
  });

  it('logs in with the command line of ours (A13-10)', async () => {
    const folder = testFolder();
    const file = join(folder, 'identity');
    writeFileSync(file, await identity());
    const env = { GATEHOUSE_CONFIG_HOME: folder, XDG_CONFIG_HOME: folder, HOME: folder };
    const { code, stderr } = await runGatehouse(
      ['login', gatehouse.mcpUrl, '--grant', 'workload_identity', '--client-id', 'deploy'].concat([
        '--assertion-file',
        file,
        '--store',
        'plain',
      ]),
      { env },
    );
    expect(code, stderr).toBe(0);
  });
});

describe('the keys of an issuer', () => {
  it('are fetched where the operator says, kept, and asked for again when they change; without them the client is told to wait (T-057)', async () => {
    trustDocumentHosts();
    const host = await startDocumentHost();
    onTestFinished(() => host.stop());
    let answer: { status: number; keys: object } = { status: 503, keys: {} };
    host.serve('/keys', (_request, response) =>
      response
        .writeHead(answer.status, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer.keys)),
    );
    const own = await startGatehouse({
      limits: generousLimits,
      dangerously: { fetchFromLoopback: true },
      trustedIssuers: ['https://a.example', 'https://b.example'].map((issuer, at) => ({
        issuer,
        jwksUri: `${host.origin}/keys${at === 0 ? '' : '-of-b'}`,
        workloads: [{ clientId: 'deploy', claims: { sub: 'job' }, scopes: ['notes:read'] }],
      })),
      clients: { preRegistered: [clientWithSecret('deploy', open)] },
    });
    onTestFinished(() => own.stop());
    const [a, b] = await Promise.all([
      createTestIssuer('https://a.example'),
      createTestIssuer('https://b.example'),
    ]);
    host.serve('/keys-of-b', (_request, response) => response.writeHead(503).end());
    const job = { sub: 'job' };
    const waiting = await present(await b.assertWorkload(own.url, job), {}, own);
    expect(waiting.headers.get('retry-after')).toBe('30');
    await expectRefused(waiting, 'temporarily_unavailable', 503);
    answer = { status: 200, keys: a.jwks };
    for (const _ of [1, 2, 3])
      await expectTokens(await present(await a.assertWorkload(own.url, job), {}, own));
    // Each node keeps them.
    expect(host.requests.filter((path) => path === '/keys').length).toBeLessThanOrEqual(nodeCount);
    await expectRefused(
      await present(await b.assertWorkload(own.url, { ...job, iss: a.issuer }), {}, own),
      'invalid_grant',
    );
  });
});
