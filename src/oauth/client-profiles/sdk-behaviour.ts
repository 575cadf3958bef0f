import type { ClientProfile } from './client-profile.ts';

/** What clients share that are built on the TypeScript SDK v1 and change nothing of it. */
export const sdkV1Behaviour = {
  resourcePlaces: ['by the challenge', 'with the path', 'at the root'],
  challengeDecides: true,
  resource: 'covers',
  issuer: 'unchecked',
  issuerAtRoot: false,
  withoutMetadata: 'default_endpoints',
  pkce: 'if_listed',
  resourceSpellings: ['published'],
  asksScopesOf: 'challenge',
  registersAgain: 'on_invalid_client',
  needs: ['repeatedRefresh', 'unaskedRefreshToken'],
} as const satisfies Partial<ClientProfile>;

/** Members of registrations that most clients send. */
export const publicClientBody = {
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
} as const;
