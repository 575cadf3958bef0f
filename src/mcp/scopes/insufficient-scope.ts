import { formatBearerChallenge, formatDpopChallenge } from '../../oauth/challenge.ts';
import { formatScope } from '../../oauth/scope.ts';
import { proofAlgorithms } from '../../oauth/signature-algorithms.ts';
import type { Refusal } from '../http/refusal.ts';
import type { Frames } from '../reading/frames.ts';

/** The scopes that a caller lacks. */
export interface LackedScopes {
  /** All scopes the call needs. */
  scopes: readonly string[];
  /** A server's rejection for lacking scopes. */
  description?: string | undefined;
  resourceMetadataUrl: string;
  /** True if the token of the caller is bound to a key: the next one has to be presented in the same way. */
  isBound?: boolean;
}

/**
 * Writes the refusal of messages whose sender lacks scopes: HTTP 403 with a challenge that says what to ask for.
 * Nothing the client wrote stands in it (T-102). It names the scheme the caller uses.
 * @see RFC 6750 section 3.1; RFC 9449 section 7.1; MCP authorization "Runtime Insufficient Scope Errors" (A8-04)
 */
export function refuseForScopes(
  { scopes, description, resourceMetadataUrl, isBound }: LackedScopes,
  { requests }: Frames,
): Refusal {
  const challenge = {
    error: 'insufficient_scope' as const,
    error_description: description ?? 'This call needs more scopes than the access token has.',
    scope: formatScope(scopes),
    resource_metadata: resourceMetadataUrl,
  };
  const [first] = requests;
  return {
    reason: 'insufficient_scope',
    headers: {
      'WWW-Authenticate': isBound
        ? formatDpopChallenge({ ...challenge, algs: proofAlgorithms.join(' ') })
        : formatBearerChallenge(challenge),
    },
    ...(first ? { id: first.id } : {}),
  };
}
