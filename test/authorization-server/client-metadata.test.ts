import { describe, expect, it } from 'vitest';
import { normalizeRegistration } from '../../src/authorization-server/client-metadata.ts';

function normal(metadata: Record<string, unknown>): Record<string, unknown> {
  return normalizeRegistration({ redirect_uris: ['https://app.example.com/cb'], ...metadata });
}

describe('a registration in its normal form', () => {
  it.each([
    [['https://app.example.com/cb'], 'web'],
    [['http://127.0.0.1/cb'], 'native'],
    [['http://localhost:3000/cb'], 'native'],
    [['http://[::1]/cb'], 'native'],
    [['cursor://auth/cb'], 'native'],
    [['https://app.example.com/cb', 'http://localhost/cb'], 'native'],
    [['https://localhost:8443/cb'], 'web'],
    [['https://127.0.0.1/cb', 'http://localhost/cb'], 'web'],
    [['cursor://auth/cb', 'http://localhost/cb'], 'native'],
  ])('has the application type that fits %j: %s', (uris, type) => {
    for (const claimed of [undefined, 'web', 'native', 'nonsense', 7])
      expect(normal({ redirect_uris: uris, application_type: claimed }).application_type).toBe(type);
  });

  it('is a public client where no authentication is named, and what it asks for where one is', () => {
    expect(normal({}).token_endpoint_auth_method).toBe('none');
    expect(normal({ token_endpoint_auth_method: null }).token_endpoint_auth_method).toBe('none');
    expect(normal({ token_endpoint_auth_method: 'client_secret_post' }).token_endpoint_auth_method).toBe(
      'client_secret_post',
    );
  });

  it.each([
    [{ token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'] }, 'none'],
    [{ token_endpoint_auth_methods: ['none'] }, 'none'],
    [{ token_endpoint_auth_methods: 'none' }, 'none'],
    [{ token_endpoint_auth_methods_supported: ['private_key_jwt'] }, 'private_key_jwt'],
    [{ token_endpoint_auth_methods_supported: ['none'], jwks: { keys: [] } }, 'private_key_jwt'],
    [{ token_endpoint_auth_methods_supported: ['none'], jwks_uri: 'https://x.example' }, 'private_key_jwt'],
    [{ token_endpoint_auth_methods_supported: { none: true } }, 'private_key_jwt'],
  ])('that asks for private_key_jwt beside %j has the method %s', (lists, method) => {
    const asked = { token_endpoint_auth_method: 'private_key_jwt', ...lists };
    expect(normal(asked).token_endpoint_auth_method).toBe(method);
  });

  it.each([
    [
      ['authorization_code', 'refresh_token'],
      ['authorization_code', 'refresh_token'],
    ],
    [['refresh_token'], ['authorization_code', 'refresh_token']],
    [['client_credentials', 'implicit'], ['authorization_code']],
    [[], ['authorization_code']],
  ])('has of the grant types %j those we have: %j (T-063)', (asked, kept) => {
    expect(normal({ grant_types: asked }).grant_types).toEqual(kept);
  });

  it('leaves grant types alone where none are named, or where they are no list, for the engine to judge', () => {
    expect(normal({})).not.toHaveProperty('grant_types');
    expect(normal({ grant_types: 'authorization_code' }).grant_types).toBe('authorization_code');
  });

  it('has code as its response type', () => {
    expect(normal({ response_types: ['token', 'id_token'] }).response_types).toEqual(['code']);
    expect(normal({})).not.toHaveProperty('response_types');
  });

  it('has no member but those a client may set about itself (T-063, T-056)', () => {
    const asked = JSON.parse('{"__proto__":{"trusted":true},"constructor":1,"toString":2}') as object;
    const result = normal({
      ...asked,
      client_name: 'A client',
      client_uri: 'https://app.example.com',
      scope: 'admin',
      client_id: 'x',
      jwks_uri: 'http://127.0.0.1/',
      logo_uri: 'http://127.0.0.1/',
      trusted: true,
    });
    expect(Object.keys(result).sort()).toEqual([
      'application_type',
      'client_name',
      'client_uri',
      'redirect_uris',
      'token_endpoint_auth_method',
    ]);
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
  });
});
