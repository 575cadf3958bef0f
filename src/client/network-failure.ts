/** Explanations of Node's error codes. */
const meanings: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name cannot be looked up now',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  ETIMEDOUT: 'the host does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'the host does not answer',
  UND_ERR_HEADERS_OVERFLOW: 'its answer has a head without an end',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate chain has a self-signed certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the issuer of its certificate is not known',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

/** Error codes of requests that never reached their server, and can safely be repeated. */
const beforeSending = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** Returns the deepest cause of a failed fetch. */
function deepestCause(error: unknown): unknown {
  let deepest = error;
  while (deepest instanceof Error && deepest.cause instanceof Error) deepest = deepest.cause;
  return deepest;
}

/**
 * Explains why a fetch failed; the message "fetch failed" alone does not.
 * @param error the rejection of a fetch
 * @returns the end of a sentence, with the error code of the runtime if there is one
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
 * Checks if a request failed before it could reach its server, so that it can be repeated.
 * @param error the rejection of a fetch, or an error with it as its cause
 */
export function neverLeft(error: unknown): boolean {
  return beforeSending.has(errorCode(deepestCause(error)) ?? '');
}

/**
 * Returns the error code of the runtime, such as `ECONNREFUSED` or `EEXIST`.
 * @param error any thrown value
 */
export function errorCode(error: unknown): string | undefined {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
