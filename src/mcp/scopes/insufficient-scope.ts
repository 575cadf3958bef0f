import { formatBearerChallenge } from '../../oauth/challenge.ts';
import { formatScope } from '../../oauth/scope.ts';
import type { Messages } from '../checks/messages.ts';
import type { Refusal } from '../refusal.ts';

/** What a caller lacks. */
export interface LackedScopes {
  /** All scopes the call needs. */
  scopes: readonly string[];
  /** What a server says to it. */
  description?: string | undefined;
  resourceMetadataUrl: string;
}

/**
 * Writes the refusal of messages whose sender lacks scopes: HTTP 403 with a challenge that says what to ask for.
 * Nothing the client wrote stands in it (T-102).
 * @see RFC 6750 section 3.1; MCP authorization "Runtime Insufficient Scope Errors" (A8-04)
 */
export function refuseForScopes(
  { scopes, description, resourceMetadataUrl }: LackedScopes,
  { requests }: Messages,
): Refusal {
  const challenge = formatBearerChallenge({
    error: 'insufficient_scope',
    error_description: description ?? 'This call needs more scopes than the access token has.',
    scope: formatScope(scopes),
    resource_metadata: resourceMetadataUrl,
  });
  const [first] = requests;
  return {
    reason: 'insufficient_scope',
    headers: { 'WWW-Authenticate': challenge },
    ...(first ? { id: first.id } : {}),
  };
}
