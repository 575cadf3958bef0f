import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashClientSecret } from '../../../src/authorization-server/operator-clients/client-secret.ts';
import {
  checkOperatorClient,
  type OperatorClient,
  toMetadata,
} from '../../../src/authorization-server/operator-clients/operator-client.ts';

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwks = { keys: [publicKey.export({ format: 'jwk' })] };
const secretHash = hashClientSecret('a secret');

const person: OperatorClient = {
  clientId: 'editor',
  name: 'The editor',
  redirectUris: ['http://127.0.0.1/callback'],
  authMethod: 'none',
  grantTypes: ['authorization_code', 'refresh_token'],
};
const machine: OperatorClient = {
  clientId: 'robot',
  name: 'The robot',
  redirectUris: [],
  authMethod: 'client_secret_basic',
  secretHash,
  grantTypes: ['client_credentials'],
  scopes: ['notes:read'],
};

describe('a client of the operator', () => {
  it('may be public, have a secret or keys, ask people for codes or act for itself, or both (A5-03, A13-02)', () => {
    const keyed = { ...machine, authMethod: 'private_key_jwt', secretHash: undefined } as const;
    for (const client of [
      person,
      machine,
      { ...keyed, jwks },
      { ...keyed, jwksUri: 'https://app.example.com/keys.json' },
      { ...machine, secretExpiresAt: 2_000_000_000 },
      {
        ...person,
        ...machine,
        redirectUris: person.redirectUris,
        grantTypes: ['authorization_code', 'client_credentials'],
      },
    ] as OperatorClient[])
      expect(checkOperatorClient(client)).toEqual([]);
  });

  it.each<[string, Partial<OperatorClient>, RegExp]>([
    ['an id that is a URL', { clientId: 'https://app.example.com/client' }, /^clientId: must have/],
    ['an empty id', { clientId: '' }, /^clientId: must have/],
    ['an id with a hyphen in front', { clientId: '-rf' }, /^clientId: must have/],
    ['the id of an account (T-104)', { clientId: 'acct_1' }, /^clientId: must not begin with acct_/],
    ['no name', { name: ' ' }, /^name:/],
    ['no grant type', { grantTypes: [] }, /^grantTypes: needs/],
    ['refreshing what nobody gives', { grantTypes: ['refresh_token'] }, /refresh_token is of no use/],
    ['codes that go nowhere', { redirectUris: [] }, /^redirectUris: needs/],
    [
      'redirect URIs without codes',
      { ...machine, redirectUris: ['https://a.example/cb'] },
      /^redirectUris: must be empty/,
    ],
    [
      'a redirect URI in the clear',
      { redirectUris: ['https://a.example/cb', 'http://a.example/cb'] },
      /^redirectUris\.1: is refused/,
    ],
    [
      'a method without its secret',
      { ...machine, secretHash: undefined },
      /^authMethod: client_secret_basic needs a secret/,
    ],
    ['a secret without a method for it', { secretHash }, /^authMethod: none uses no secret/],
    ['a secret in plain text', { ...machine, secretHash: 'hunter2' }, /^secretHash: must be sha256:/],
    ['the end of a secret it has not', { secretExpiresAt: 1 }, /^secretExpiresAt:/],
    [
      'keys and a URL of keys',
      { authMethod: 'private_key_jwt', jwks, jwksUri: 'https://a.example/k' },
      /either jwks or jwksUri/,
    ],
    ['neither', { authMethod: 'private_key_jwt' }, /either jwks or jwksUri/],
    ['keys for nothing', { jwks }, /^authMethod: none uses no keys/],
    ['no key in its keys', { authMethod: 'private_key_jwt', jwks: { keys: [] } }, /^jwks: holds no key/],
    [
      'keys fetched in the clear',
      { authMethod: 'private_key_jwt', jwksUri: 'http://a.example/k' },
      /^jwksUri: must be an https URL/,
    ],
    [
      'no authentication, acting for itself',
      { ...machine, authMethod: 'none', secretHash: undefined },
      /^authMethod: client_credentials is for/,
    ],
    ['no scopes, acting for itself', { ...machine, scopes: undefined }, /^scopes: needs a list/],
    ['what is no scope', { scopes: ['a b'] }, /^scopes: must be/],
  ])('is refused with %s', (_what, change, problem) => {
    expect(checkOperatorClient({ ...person, ...change }).join('\n')).toMatch(problem);
  });

  it('has all its problems named at once', () => {
    expect(checkOperatorClient({ ...person, clientId: '', name: '', redirectUris: [] })).toHaveLength(3);
  });

  it('is known to the engine by its hash alone, never by more than it was given', () => {
    expect(toMetadata(machine)).toEqual({
      client_id: 'robot',
      client_name: 'The robot',
      redirect_uris: [],
      response_types: [],
      grant_types: ['client_credentials'],
      application_type: 'web',
      token_endpoint_auth_method: 'client_secret_basic',
      scope: 'notes:read',
      client_secret: secretHash,
      client_secret_expires_at: 0,
    });
    expect(toMetadata({ ...person, scopes: ['notes:read'] }).scope).toBe('notes:read openid offline_access');
    expect(toMetadata(person)).not.toHaveProperty('scope');
  });
});
