import { describe, expect, it } from 'vitest';
import { keyChecks } from '../../../src/doctor/issuer/key-checks.ts';
import { examined } from '../support/examine.ts';
import { type Fault, routeNames, startServer } from '../support/server.ts';

async function judged(fault: Fault) {
  const report = await examined((await startServer({ fault })).url, keyChecks);
  return { report, finding: report.finding('AS-KEYS') };
}

const keys =
  (...list: object[]): Fault =>
  (server) =>
    server.publish('GET /jwks', { keys: list });

describe('the key set', () => {
  it.each([
    ['a shared secret', { kty: 'oct', kid: 's', k: 'c2VjcmV0' }, 'a shared secret'],
    ['a private key', { kty: 'RSA', kid: 'p', n: 'x', e: 'AQAB', d: 'cHJpdmF0ZS1leHBvbmVudA' }, 'private'],
    ['alg none', { kty: 'EC', kid: 'n', alg: 'none' }, '"alg": "none"'],
    ['alg HS256', { kty: 'EC', kid: 'h', alg: 'HS256' }, '"alg": "HS256"'],
  ])('that has %s lets anybody sign (RFC 8725)', async (_what, key, saw) => {
    const { finding } = await judged(keys(key));
    expect(finding).toMatchObject({ verdict: 'fail', saw: expect.stringContaining(saw) });
  });

  it('that has a private key is not repeated in the report (T-191)', async () => {
    const { report } = await judged(keys({ kty: 'EC', kid: 'p', d: 'cHJpdmF0ZS1leHBvbmVudA' }));
    expect(JSON.stringify(report)).not.toContain('cHJpdmF0ZS1leHBvbmVudA');
  });

  it.each([
    ['a page', { headers: { 'content-type': 'text/html' }, text: '<html>' }, 'text/html'],
    ['no "keys"', { json: {} }, '"keys" is missing'],
    ['nothing', { status: 404 }, 'there is nothing'],
  ])('that is %s cannot be used', async (_what, reply, saw) => {
    const { finding } = await judged(({ routes }) => {
      routes['GET /jwks'] = () => reply;
    });
    expect(finding).toMatchObject({ verdict: 'fail', saw: expect.stringContaining(saw) });
  });

  it('need not exist', async () => {
    const { finding } = await judged((server) =>
      server.publish(routeNames.authorizationServer, { jwks_uri: undefined }),
    );
    expect(finding.verdict).toBe('skip');
  });

  it('of one key needs no kid; of several each has its own', async () => {
    const key = { kty: 'EC', crv: 'P-256', x: 'a', y: 'b' };
    expect((await judged(keys(key))).finding.verdict).toBe('pass');
    expect((await judged(keys({ ...key, kid: '1' }, { ...key, kid: '1' }))).finding.verdict).toBe('warn');
    expect((await judged(keys({ ...key, kid: '1' }, { ...key, kid: '2' }))).finding.verdict).toBe('pass');
  });
});
