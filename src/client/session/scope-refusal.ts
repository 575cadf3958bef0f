import { parseChallenges } from '../../oauth/challenge.ts';
import { isScopeToken, missingScopes, parseScope, scopeUnion } from '../../oauth/scope.ts';
import { InsufficientScopeError } from '../client-error.ts';
import type { Credential } from '../stores/credential-store.ts';
import { formerLogin } from './former-login.ts';

/** Schemes whose challenges say that a token lacks scopes (RFC 6750 section 3.1; RFC 9449 section 7.1). */
const schemes = ['bearer', 'dpop'];

/**
 * Reads whether a response says that the token is good, but for less. Some servers say so with a 401: that counts where
 * the token does lack the scopes.
 * @param response its body is not touched
 * @param used the credential of the request
 * @returns the scopes it asks for; undefined for any other response
 * @see RFC 6750 section 3.1 (A8-07)
 */
export function readRequiredScopes(
  { status, headers }: Response,
  used: Credential | undefined,
): string[] | undefined {
  if (status !== 403 && status !== 401) return undefined;
  const challenge = parseChallenges(headers.get('www-authenticate') ?? '').find(
    ({ scheme, parameters }) => schemes.includes(scheme) && parameters.error === 'insufficient_scope',
  );
  if (challenge === undefined) return undefined;
  const required = parseScope(challenge.parameters.scope).filter(isScopeToken);
  const lacks = used !== undefined && missingScopes(used.scopes ?? [], required).length > 0;
  return status === 403 || lacks ? required : undefined;
}

/**
 * @param server canonical URL of the MCP server
 * @param held the credential that allows too little
 * @param required scopes that the challenge asks for
 * @returns the failure, which knows what to ask for at the next login: all scopes held and required (A8-07)
 */
export function scopeRefusal(
  server: string,
  held: Credential | undefined,
  required: readonly string[],
): InsufficientScopeError {
  const scopes = held?.scopes ?? [];
  return new InsufficientScopeError(
    server,
    { required, missing: missingScopes(scopes, required), union: scopeUnion(scopes, required) },
    formerLogin(held),
  );
}
