import { checkRedirectUri } from '../../oauth/redirect-uri.ts';
import { isScopeToken, personalScopes } from '../../oauth/scope.ts';
import { type ClientKeySet, checkKeySet, checkKeySetUrl } from '../client-keys/key-set.ts';
import { inferApplicationType, type Metadata } from '../client-metadata.ts';
import { tokenExchangeGrant } from '../token-exchange/exchange-rule.ts';
import { jwtBearerGrant } from '../trusted-issuers/trusted-issuer.ts';
import { isClientSecretHash } from './client-secret.ts';

/** Authentication methods of the operator's clients. */
const operatorAuthMethods = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const;

/** Grant types of the operator's clients. */
const operatorGrantTypes = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  jwtBearerGrant,
  tokenExchangeGrant,
] as const;

/** A client that the operator registered, in the settings or by a command (A5-03, A13-02). */
export interface OperatorClient {
  clientId: string;
  /** Display name; the consent page says that the operator vouches for it. */
  name: string;
  /** Redirect URIs; none for a client that needs none. */
  redirectUris: readonly string[];
  authMethod: (typeof operatorAuthMethods)[number];
  /** As `hashClientSecret` gives it; for the methods with a secret, and for these alone. */
  secretHash?: string | undefined;
  /** Expiry of its secret, epoch seconds; never if absent. */
  secretExpiresAt?: number | undefined;
  /** Its public keys, for `private_key_jwt`; these, or the URL of its keys. */
  jwks?: ClientKeySet | undefined;
  jwksUri?: string | undefined;
  grantTypes: readonly (typeof operatorGrantTypes)[number][];
  /**
   * The most scopes that it may request; all if absent, since users decide anyway. A client that acts for itself needs
   * a list.
   */
  scopes?: readonly string[] | undefined;
}

/** One rule: a problem, beginning with the member it is about; undefined if it is kept. */
type Rule = (client: OperatorClient) => string | false | undefined;

const usesSecret = ({ authMethod }: OperatorClient): boolean => authMethod.startsWith('client_secret_');
const takesCodes = ({ grantTypes }: OperatorClient): boolean => grantTypes.includes('authorization_code');
const actsForItself = ({ grantTypes }: OperatorClient): boolean => grantTypes.includes('client_credentials');

/** Ids of accounts begin so: no client is taken for a person, whoever compares subjects (T-104). */
const accountPrefix = 'acct_';

const rules: readonly Rule[] = [
  ({ clientId }) =>
    !/^[A-Za-z0-9][\w.~-]{0,99}$/.test(clientId) &&
    'clientId: must have up to 100 letters, digits, dots, hyphens, tildes and underscores, and begin with a letter or digit',
  ({ clientId }) => clientId.startsWith(accountPrefix) && `clientId: must not begin with ${accountPrefix}`,
  ({ name }) => (name.trim() === '' || name.length > 100) && 'name: must be text of at most 100 characters',
  ({ grantTypes }) => grantTypes.length === 0 && 'grantTypes: needs at least one',
  (client) =>
    client.grantTypes.includes('refresh_token') &&
    !takesCodes(client) &&
    'grantTypes: refresh_token is of no use without authorization_code',
  (client) =>
    takesCodes(client) &&
    client.redirectUris.length === 0 &&
    'redirectUris: needs at least one, because grantTypes has authorization_code',
  (client) =>
    !takesCodes(client) &&
    client.redirectUris.length > 0 &&
    'redirectUris: must be empty, because grantTypes does not have authorization_code',
  ({ redirectUris }) => {
    const at = redirectUris.findIndex((uri) => checkRedirectUri(uri) !== undefined);
    return (
      at >= 0 && `redirectUris.${at}: is refused: ${checkRedirectUri(redirectUris[at])?.replaceAll('_', ' ')}`
    );
  },
  (client) =>
    usesSecret(client) !== (client.secretHash !== undefined) &&
    (usesSecret(client)
      ? `authMethod: ${client.authMethod} needs a secret`
      : `authMethod: ${client.authMethod} uses no secret; leave it out`),
  ({ secretHash }) =>
    secretHash !== undefined &&
    !isClientSecretHash(secretHash) &&
    'secretHash: must be sha256: and 64 hexadecimal digits, as sha256sum prints them',
  (client) =>
    client.secretExpiresAt !== undefined &&
    !usesSecret(client) &&
    'secretExpiresAt: is for clients with a secret',
  ({ authMethod, jwks, jwksUri }) =>
    (authMethod === 'private_key_jwt'
      ? (jwks === undefined) === (jwksUri === undefined)
      : jwks !== undefined || jwksUri !== undefined) &&
    (authMethod === 'private_key_jwt'
      ? 'authMethod: private_key_jwt needs either jwks or jwksUri'
      : `authMethod: ${authMethod} uses no keys; leave jwks and jwksUri out`),
  ({ jwks }) => {
    const fault = jwks && checkKeySet(jwks);
    return fault !== undefined && `jwks: ${fault}`;
  },
  ({ jwksUri }) => {
    const fault = jwksUri === undefined ? undefined : checkKeySetUrl(jwksUri);
    return fault !== undefined && `jwksUri: ${fault}`;
  },
  (client) =>
    actsForItself(client) &&
    client.authMethod === 'none' &&
    'authMethod: client_credentials is for clients that authenticate (RFC 6749 section 4.4)',
  ({ grantTypes, authMethod }) =>
    grantTypes.includes(tokenExchangeGrant) &&
    authMethod === 'none' &&
    'authMethod: token exchange is for clients that authenticate (RFC 8693 section 2.1)',
  (client) =>
    actsForItself(client) &&
    (client.scopes ?? []).length === 0 &&
    'scopes: needs a list, because nobody else decides what client_credentials gives',
  ({ scopes }) => scopes?.some((scope) => !isScopeToken(scope)) && 'scopes: must be a list of scopes',
];

/**
 * Looks at a client of the operator.
 * @returns every problem, each beginning with the member it is about; none if it may be registered
 */
export function checkOperatorClient(client: OperatorClient): string[] {
  return rules.flatMap((rule) => rule(client) || []);
}

/**
 * Returns the metadata by which the engine knows a client of the operator. Its `client_secret` is the hash, which the
 * comparison of secrets knows.
 * @param client one that passed {@link checkOperatorClient}
 */
export function toMetadata(client: OperatorClient): Metadata {
  const { clientId, name, redirectUris, authMethod, secretHash, secretExpiresAt, jwks, jwksUri } = client;
  const codes = takesCodes(client);
  return {
    client_id: clientId,
    client_name: name,
    redirect_uris: [...redirectUris],
    response_types: codes ? ['code'] : [],
    grant_types: [...client.grantTypes],
    application_type: inferApplicationType(redirectUris),
    token_endpoint_auth_method: authMethod,
    ...(client.scopes
      ? { scope: [...client.scopes, ...(codes ? personalScopes : [])].join(' ') }
      : undefined),
    ...(secretHash === undefined
      ? undefined
      : { client_secret: secretHash, client_secret_expires_at: secretExpiresAt ?? 0 }),
    ...(jwks ? { jwks } : undefined),
    ...(jwksUri === undefined ? undefined : { jwks_uri: jwksUri }),
  };
}
