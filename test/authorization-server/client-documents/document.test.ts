import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../../src/authorization-server/client-documents/document.ts';

const url = 'https://app.example.com/client.json';
const good = {
  client_id: url,
  client_name: 'An app',
  redirect_uris: ['https://app.example.com/cb'],
};

const jwks = { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }] };

function parse(members: Record<string, unknown>): Record<string, unknown> {
  return parseDocument(url, Buffer.from(JSON.stringify({ ...good, ...members })));
}

describe('a client metadata document', () => {
  it('gives a public client with its name, site, redirect URIs and grant types, and nothing else (A5-06, A5-08)', () => {
    const client = parse({
      client_uri: 'https://app.example.com',
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      response_types: ['token'],
      scope: 'admin',
      logo_uri: 'https://app.example.com/logo.png',
      sector_identifier_uri: 'http://127.0.0.1/',
      contacts: ['not an address'],
      trusted: true,
    });
    expect(client).toEqual({
      ...good,
      client_uri: 'https://app.example.com',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: 'web',
      token_endpoint_auth_method: 'none',
    });
  });

  it('of an app with portless loopback redirects is one whose ports may differ (RFC 8252 section 7.3)', () => {
    const redirect_uris = ['http://localhost/callback', 'http://127.0.0.1/callback'];
    expect(parse({ redirect_uris, application_type: 'web' }).application_type).toBe('native');
  });

  it.each([
    ['another URL', 'https://app.example.com/other.json'],
    ['upper case', 'https://APP.example.com/client.json'],
    ['the default port', 'https://app.example.com:443/client.json'],
    ['a slash at its end', `${url}/`],
    ['percent-encoding', 'https://app.example.com/client%2Ejson'],
    ['a query', `${url}?`],
    ['a fragment', `${url}#`],
    ['an array', [url]],
    ['null', null],
    ['nothing', undefined],
  ])('with %s for a client_id is not of its URL (T-072)', (_what, clientId) => {
    expect(() => parse({ client_id: clientId })).toThrow('its client_id is not its own URL');
  });

  it.each([
    ['a secret', { client_secret: 'x' }, 'client secret'],
    ['an empty secret', { client_secret: '' }, 'client secret'],
    ['the end of a secret', { client_secret_expires_at: 0 }, 'client secret'],
    ['a way to use a secret', { token_endpoint_auth_method: 'client_secret_basic' }, 'shared secret'],
    [
      'a way to use a secret, though it could do without',
      { token_endpoint_auth_method: 'client_secret_post', token_endpoint_auth_methods_supported: ['none'] },
      'shared secret',
    ],
    ['a private key', { jwks: { keys: [{ kty: 'EC', x: 'x', y: 'y', d: 'd' }] } }, 'private key'],
    [
      'a symmetric key',
      {
        jwks: {
          keys: [
            { kty: 'RSA', n: 'n' },
            { kty: 'oct', k: 'k' },
          ],
        },
      },
      'private key',
    ],
    [
      'a redirect that starts a program (FA-11, T-214)',
      { redirect_uris: ['ms-msdt:/id'] },
      'forbidden scheme',
    ],
    [
      'a redirect of an unknown scheme (FA-11, T-214)',
      { redirect_uris: ['steam://run/1'] },
      'unknown scheme',
    ],
    ['a redirect that runs', { redirect_uris: ['javascript:alert(1)'] }, 'forbidden scheme'],
    ['a redirect in the clear', { redirect_uris: ['http://app.example.com/cb'] }, 'http not loopback'],
    ['a redirect anywhere', { redirect_uris: ['https://*.example.com/cb'] }, 'wildcard'],
    [
      'a crowd of redirects',
      { redirect_uris: Array.from({ length: 99 }, (_, at) => `https://a.example/${at}`) },
      'at most',
    ],
    ['no redirects', { redirect_uris: [] }, 'at least one'],
    ['redirects that are no list', { redirect_uris: 'https://app.example.com/cb' }, 'array'],
    ['no redirect_uris', { redirect_uris: undefined }, 'array'],
    ['no name', { client_name: undefined }, 'no client_name'],
    ['a blank name', { client_name: ' ' }, 'no client_name'],
    ['a name that is no text', { client_name: { en: 'x' } }, 'no client_name'],
    ['a name without end', { client_name: 'n'.repeat(201) }, 'at most 200'],
    ['a key it does not show', { token_endpoint_auth_method: 'private_key_jwt' }, 'either jwks or jwks_uri'],
    [
      'keys here and elsewhere',
      { token_endpoint_auth_method: 'private_key_jwt', jwks, jwks_uri: 'https://app.example.com/jwks' },
      'either jwks or jwks_uri',
    ],
    [
      'no key among its keys',
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [] } },
      'no key',
    ],
    [
      'keys in the clear',
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'http://app.example.com/jwks' },
      'jwks_uri must be an https URL',
    ],
    [
      'a signature that needs a shared secret',
      { token_endpoint_auth_method: 'private_key_jwt', jwks, token_endpoint_auth_signing_alg: 'HS256' },
      'token_endpoint_auth_signing_alg must be one of',
    ],
    ['a way we do not know', { token_endpoint_auth_method: 7 }, 'has to be among them'],
  ])('with %s is refused (T-074, A5-08)', (_what, members, fault) => {
    expect(() => parse(members)).toThrow(fault);
  });

  it.each([['[]'], ['"x"'], ['null'], ['{"client_id":'], [''], ['<html>']])(
    'that is %j is refused (A5-08)',
    (text) => {
      expect(() => parseDocument(url, Buffer.from(text))).toThrow(/^it is not (a )?JSON/);
      expect(() => parseDocument(url, Buffer.from([0x7b, 0xff, 0x7d]))).toThrow('not JSON in UTF-8');
    },
  );

  it.each(['token_endpoint_auth_methods_supported', 'token_endpoint_auth_methods'])(
    'that prefers private_key_jwt and has none in %s may do either, as ChatGPT (AS-11)',
    (list) => {
      const client = parse({
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_signing_alg: 'RS256',
        [list]: ['none', 'private_key_jwt'],
        jwks_uri: 'https://app.example.com/jwks.json',
      });
      expect(client).toMatchObject({
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_methods: ['private_key_jwt', 'none'],
        token_endpoint_auth_signing_alg: 'RS256',
        jwks_uri: 'https://app.example.com/jwks.json',
      });
    },
  );

  it('that prefers private_key_jwt, has none as well and shows no keys does not authenticate (AS-11)', () => {
    const methods = { token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'] };
    const client = parse({ token_endpoint_auth_method: 'private_key_jwt', ...methods });
    expect(client.token_endpoint_auth_method).toBe('none');
    expect(client).not.toHaveProperty('token_endpoint_auth_methods');
  });

  it('with keys for private_key_jwt alone has to use them (A5-07)', () => {
    const client = parse({ token_endpoint_auth_method: 'private_key_jwt', jwks });
    expect(client).toMatchObject({ token_endpoint_auth_method: 'private_key_jwt', jwks });
    expect(client).not.toHaveProperty('token_endpoint_auth_methods');
  });

  it('loses keys that are for nothing', () => {
    expect(parse({ jwks })).not.toHaveProperty('jwks');
  });

  it('loses what is no https URL of a site', () => {
    for (const clientUri of ['http://app.example.com', 'javascript:alert(1)', 7, null])
      expect(parse({ client_uri: clientUri })).not.toHaveProperty('client_uri');
  });
});
