import { errorCode } from './error-code.ts';

/** What the codes of Node mean for the person who reads them. */
const meanings: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name cannot be looked up now',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the network',
  ETIMEDOUT: 'the host does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'the host does not answer',
  UND_ERR_HEADERS_OVERFLOW: 'its answer has a head without an end',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate chain has a self-signed certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the issuer of its certificate is not known',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

/** Codes of failures before a request left this machine; it can be sent again whatever it asks for. */
const beforeSending = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** The deepest error of a failed fetch. An address of both families that refuses is an AggregateError. */
function deepestCause(error: unknown): unknown {
  let deepest = error;
  while (deepest instanceof Error && deepest.cause instanceof Error) deepest = deepest.cause;
  return deepest;
}

/**
 * Says why a fetch failed: "fetch failed" alone helps nobody.
 * @param error what a fetch rejected with
 * @returns the end of a sentence, with the code of the runtime where there is one
 */
export function describeFailure(error: unknown): string {
  const deepest = deepestCause(error);
  if (!(deepest instanceof Error)) return 'no connection';
  const code = errorCode(deepest);
  if (code === undefined) return deepest.message === '' ? 'no connection' : deepest.message;
  const meaning = meanings[code];
  return meaning === undefined ? code : `${meaning} (${code})`;
}

/**
 * Whether a request failed before it could reach its server, so that it can be repeated.
 * @param error what a fetch rejected with, or what was made of it
 */
export function neverLeft(error: unknown): boolean {
  return beforeSending.has(errorCode(deepestCause(error)) ?? '');
}
