import { equalSecrets } from '../crypto/secret.ts';
import { kindOf } from './ask.ts';
import type { ServerMetadata } from './metadata.ts';
import { UpstreamFault, type UpstreamReason } from './upstream-fault.ts';

/** What of a callback is looked at. */
const parameters = ['code', 'state', 'iss', 'error'] as const;

/** Errors that an upstream tells us of itself and not of the person (RFC 6749 section 4.1.2.1). */
const passingErrors = ['temporarily_unavailable', 'server_error'];

/** Errors that mean that somebody, there, said no. */
const denials = ['access_denied', 'user_cancelled_login', 'user_denied'];

/** Error codes that are named in faults; others are foreign text. */
const namedErrors = [
  'consent_required',
  'interaction_required',
  'invalid_request',
  'invalid_scope',
  'login_required',
  'unauthorized_client',
  'unsupported_response_type',
];

function findFault(
  callback: URLSearchParams,
  expectedState: string,
  {
    issuer: set,
    spelledIssuer: issuer = set,
    authorization_response_iss_parameter_supported: namesItself,
  }: ServerMetadata,
): { reason: UpstreamReason; detail?: string | undefined } | undefined {
  if (parameters.some((name) => callback.getAll(name).length > 1)) return { reason: 'callback_malformed' };
  if (!equalSecrets(callback.get('state') ?? '', expectedState)) return { reason: 'callback_state' };
  const iss = callback.get('iss');
  if (iss === null && namesItself === true) return { reason: 'callback_issuer_missing' };
  // A placeholder in the issuer stands for many: what the ID token says is compared in its place.
  if (iss !== null && iss !== issuer && !issuer.includes('{')) return { reason: 'callback_issuer' };
  const error = callback.get('error');
  if (error === null) return callback.get('code') ? undefined : { reason: 'callback_malformed' };
  if (denials.includes(error)) return { reason: 'denied' };
  if (passingErrors.includes(error)) return { reason: 'server_error', detail: 'callback' };
  return { reason: 'callback_error', detail: namedErrors.includes(error) ? error : undefined };
}

/**
 * Checks the callback of a login before anything is sent anywhere: that it answers this request (state), comes from this
 * upstream (RFC 9207 section 2.4; T-087), and is no error.
 * @param name of the upstream
 * @param callback its parameters
 * @param expectedState that of the login that began
 * @throws UpstreamFault
 */
export function requireAnswer(
  name: string,
  callback: URLSearchParams,
  expectedState: string,
  metadata: ServerMetadata,
): void {
  const found = findFault(callback, expectedState, metadata);
  if (found) throw new UpstreamFault(name, kindOf(found.reason), found.reason, found.detail);
}
