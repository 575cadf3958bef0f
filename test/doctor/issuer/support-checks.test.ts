import { describe, expect, it } from 'vitest';
import { keyChecks, supportChecks } from '../../../src/doctor/issuer/support-checks.ts';
import type { LoginMeans } from '../../../src/doctor/subject.ts';
import { examined } from '../support/examine.ts';
import { type Fault, routeNames, startServer } from '../support/server.ts';

/** Judges metadata with some members changed. */
async function published(members: Record<string, unknown>) {
  const server = await startServer({
    fault: (changed) => changed.publish(routeNames.authorizationServer, members),
  });
  return examined(server.url, supportChecks);
}

describe('what the authorization server offers', () => {
  it.each([
    ['AS-RESPONSE-TYPES', { response_types_supported: undefined }, 'warn', 'missing'],
    ['AS-GRANT-TYPES', { grant_types_supported: undefined }, 'pass', 'authorization_code and implicit'],
    [
      'AS-GRANT-TYPES',
      { grant_types_supported: ['client_credentials'] },
      'fail',
      'without authorization_code',
    ],
    ['AS-ISS', { authorization_response_iss_parameter_supported: 'true' }, 'warn', '"true"'],
    [
      'AS-REGISTRATION',
      { client_id_metadata_document_supported: true },
      'pass',
      'client ID metadata documents and by',
    ],
    [
      'AS-CLIENT-AUTH',
      { token_endpoint_auth_methods_supported: undefined },
      'warn',
      'client_secret_basic only',
    ],
    ['AS-REVOCATION', { revocation_endpoint: undefined }, 'skip', 'no revocation_endpoint'],
    [
      'AS-REVOCATION',
      { introspection_endpoint: 'https://a/introspect' },
      'pass',
      'introspection_endpoint too',
    ],
    ['AS-DEVICE', { device_authorization_endpoint: 'https://a/device' }, 'warn', 'device_code'],
    [
      'AS-DEVICE',
      {
        grant_types_supported: [
          'authorization_code',
          'refresh_token',
          'urn:ietf:params:oauth:grant-type:device_code',
        ],
      },
      'warn',
      'no device_authorization_endpoint',
    ],
    [
      'AS-DEVICE',
      {
        device_authorization_endpoint: 'https://a/device',
        grant_types_supported: [
          'authorization_code',
          'refresh_token',
          'urn:ietf:params:oauth:grant-type:device_code',
        ],
      },
      'pass',
      'https://a/device',
    ],
    ['AS-PKCE', { code_challenge_methods_supported: 'S256' }, 'fail', 'missing'],
  ])('%s of %j is %s', async (id, members, verdict, saw) => {
    const { verdict: found, saw: said } = (await published(members)).finding(id);
    expect(found).toBe(verdict);
    expect(said).toContain(saw);
  });

  it('leaves clients without a way in, but not the one whose id was given', async () => {
    const server = await startServer({
      fault: (sound) => sound.publish(routeNames.authorizationServer, { registration_endpoint: undefined }),
    });
    const verdictOf = async (login: LoginMeans) =>
      (await examined(server.url, supportChecks, { login })).finding('AS-REGISTRATION').verdict;
    expect(await verdictOf({})).toBe('fail');
    expect(await verdictOf({ given: { clientId: 'mine' } })).toBe('warn');
  });
});

describe('keys', () => {
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
});
