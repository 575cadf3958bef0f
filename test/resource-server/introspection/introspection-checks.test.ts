import { describe, expect, it } from 'vitest';
import { checkIntrospection } from '../../../src/resource-server/introspection/introspection-checks.ts';

const expected = {
  issuer: 'https://as.example.com',
  resource: 'https://files.example.com/mcp',
  nowSeconds: 1000,
};
const good = {
  active: true,
  iss: expected.issuer,
  sub: 'ada',
  client_id: 'c',
  aud: expected.resource,
  exp: 1300,
  token_type: 'Bearer',
};

describe('an active token', () => {
  it.each([
    ['as it should be', {}],
    ['of a server that does not name itself', { iss: undefined }],
    ['for several resources', { aud: ['https://other.example', expected.resource] }],
    ['with all that may be said', { iat: 900, nbf: 900, jti: 'j', scope: 'a b', token_use: 'access_token' }],
    ['that is bound to a key', { token_type: 'dpop', cnf: { jkt: 't' } }],
  ])('passes %s (A12-11)', (_what, change) => {
    expect(checkIntrospection({ ...good, ...change }, expected)).toBeUndefined();
  });

  it.each([
    ['other_issuer', { iss: 'https://as.example.com/' }],
    ['other_issuer', { iss: null }],
    ['no_access_token', { token_type: undefined }],
    ['no_access_token', { token_type: 'refresh_token' }],
    ['no_access_token', { token_use: 'refresh_token' }],
    ['binding_without_key', { token_type: 'DPoP' }],
    ['unknown_binding', { cnf: { 'x5t#S256': 'x' } }],
    ['other_audience', { aud: 'https://other.example' }],
    ['other_audience', { aud: undefined }],
    ['expired', { exp: 940 }],
    ['expiry_is_no_time', { exp: undefined }],
    ['issued_in_the_future', { iat: 1061 }],
    ['not_yet_valid', { nbf: 1061 }],
    ['no_subject', { sub: undefined }],
    ['no_client', { client_id: undefined }],
    ['scope_is_no_text', { scope: ['a'] }],
  ])('fails with %s for %j (A12-11, T-096, T-097, T-100)', (fault, change) => {
    expect(checkIntrospection({ ...good, ...change }, expected)).toBe(fault);
  });
});
