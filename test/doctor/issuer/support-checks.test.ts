import { describe, expect, it } from 'vitest';
import { supportChecks } from '../../../src/doctor/issuer/support-checks.ts';
import type { LoginMeans } from '../../../src/doctor/login/login-means.ts';
import { examined } from '../support/examine.ts';
import { routeNames, startServer } from '../support/server.ts';

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
