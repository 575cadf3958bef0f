import { type CompactVerifyGetKey, createRemoteJWKSet, customFetch, errors } from 'jose';

/** The keys of the issuer are unavailable, so the token cannot be verified. Not the caller's fault. */
export class IssuerKeysUnavailable extends Error {
  override name = 'IssuerKeysUnavailable';
  /** Koa sends it as the response status. */
  readonly status = 503;
  readonly expose = true;
}

/** The location of an issuer's keys. */
export interface IssuerKeysOptions {
  jwksUrl: string;
  /** Fetches the keys; it has to restrict the destinations. */
  fetch: typeof globalThis.fetch;
}

/** Maximum size of a key set, in bytes (T-057). */
const maxBytes = 64 * 1024;

const timeoutMs = 2_500;

/** Pause after a failed fetch, in milliseconds. */
const patienceMs = 5_000;

/** Maximum age of cached keys, and minimum pause between fetches whatever key ids tokens name. */
const freshness = { cacheMaxAge: 10 * 60_000, cooldownDuration: 30_000 } as const;

/**
 * Creates a function that finds the key of an issuer for a token header. Keys are cached and fetched again if a token
 * names an unknown one, at most twice a minute, so that invented key ids cost the issuer nothing. It uses `jose`, which
 * shares concurrent fetches and drops withdrawn keys.
 * @returns throws a JOSEError if there is no such key or more than one, and IssuerKeysUnavailable if the keys cannot be
 * fetched
 * @see RFC 7517 section 5; RFC 8725 section 3.10 (A12-11, T-099)
 */
export function createIssuerKeys({ jwksUrl, fetch }: IssuerKeysOptions): CompactVerifyGetKey {
  const keys = createRemoteJWKSet(new URL(jwksUrl), {
    ...freshness,
    timeoutDuration: timeoutMs,
    [customFetch]: async (url, init) => {
      const response = await fetch(url, init as RequestInit);
      return new Response(await readBounded(response, maxBytes), { status: response.status });
    },
  });
  let failure: { cause: unknown; at: number } | undefined;
  return async (header, token) => {
    if (failure && performance.now() - failure.at < patienceMs) throw unavailable(failure.cause);
    try {
      const key = await keys(header, token);
      failure = undefined;
      return key;
    } catch (cause) {
      if (isAboutTheKey(cause)) throw cause;
      failure = { cause, at: performance.now() };
      throw unavailable(cause);
    }
  };
}

function unavailable(cause: unknown): IssuerKeysUnavailable {
  return new IssuerKeysUnavailable('The keys of the issuer cannot be had at the moment. Try again later.', {
    cause,
  });
}

function isAboutTheKey(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;
}

/**
 * Reads a response body up to a limit.
 * @throws RangeError for a larger body; the rest is not read
 */
export async function readBounded(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new RangeError(`the answer has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
