import { ClientError, type DiscoveredServer, DiscoveryError, type Fetch } from '../../client/index.ts';
import { loginCommand } from './client-failure.ts';
import { guessEndpoint } from './endpoint-guess.ts';

/** Failures of a URL where no MCP server is, or not one that wants a login. */
const wrongPlace = new Set<ClientError['reason']>([
  'not_protected',
  'no_metadata',
  'resource_mismatch',
  'redirected',
]);

/** How authorization servers refuse the resource parameter: RFC 8707 section 2, and Microsoft Entra (CL-5). */
const refusesResource = /"invalid_target"|AADSTS(?:9010010|901002)\b/;

/** How others say it in words: "Unknown parameter: resource", "resource is not supported" (FA-27). */
const resourceInWords =
  /\b(?:un\w+|in\w+|not|no|extra|illegal)\b[^".]{0,40}\bresource\b|\bresource\b[^".]{0,40}\b(?:un\w+|in\w+|not|illegal)\b/i;

/** Failures in which an authorization server says why. */
const refusals = new Set<ClientError['reason']>(['authorization_denied', 'token_refused', 'server_error']);

function namedScopes(found: DiscoveredServer | undefined): readonly string[] {
  const { protectedResource, authorizationServer } = found ?? {};
  return protectedResource?.scopes_supported ?? authorizationServer?.scopes_supported ?? [];
}

/**
 * Warns of scopes that a server does not name. It may know them all the same, but a slip of the pen is likelier.
 * @param found what discovery found
 * @param scopes what the user asks for
 * @returns a sentence, or undefined
 * @see RFC 9728 section 2 `scopes_supported` (A8-06)
 */
export function warnOfScopes(found: DiscoveredServer, scopes: readonly string[] = []): string | undefined {
  const named = new Set([
    ...namedScopes(found),
    ...(found.authorizationServer.scopes_supported ?? []),
    ...(found.challengedScopes ?? []),
  ]);
  const strange = scopes.filter((scope) => !named.has(scope));
  return named.size === 0 || strange.length === 0
    ? undefined
    : `This server does not name the scope ${strange.join(' ')}. It names: ${namedScopes(found).join(' ') || [...named].join(' ')}`;
}

/**
 * Says what to try where a login failed: another URL, or scopes the server knows.
 * @param error what stopped it
 * @param url URL of the MCP server, as the user gave it
 * @param found what discovery found before
 * @param fetch how another URL is looked for
 * @returns a sentence, or undefined
 */
export async function hintAtLogin(
  error: unknown,
  url: string,
  found: DiscoveredServer | undefined,
  fetch: Fetch,
): Promise<string | undefined> {
  if (!(error instanceof ClientError)) return undefined;
  if (error.message.includes('"invalid_scope"')) {
    const known = namedScopes(found);
    if (known.length > 0) return `Scopes this server names: ${known.join(' ')}`;
  }
  if (
    refusesResource.test(error.message) ||
    (found !== undefined && refusals.has(error.reason) && resourceInWords.test(error.message))
  )
    return 'Where it takes no resource parameter at all: --no-resource. Its tokens are then for this server by their scopes only.';
  if (found !== undefined || !wrongPlace.has(error.reason)) return undefined;
  const named = error instanceof DiscoveryError ? error.trace.at(-1)?.resource : undefined;
  const guess = await guessEndpoint(fetch, url, named);
  return guess === undefined ? undefined : `Did you mean ${guess}? ${loginCommand(guess)}`;
}
