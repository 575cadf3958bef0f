import { type CompactVerifyGetKey, createRemoteJWKSet, customFetch, errors } from 'jose';

/** The keys of an issuer cannot be had, so nobody can tell whether its tokens are good. Nothing the caller did. */
export class IssuerKeysUnavailable extends Error {
  override name = 'IssuerKeysUnavailable';
  /** For Koa, which makes it the answer. */
  readonly status = 503;
  readonly expose = true;
}

/** Where an issuer publishes its keys, and how they are fetched. */
export interface IssuerKeysOptions {
  jwksUrl: string;
  /** Fetches the keys; bounds where it may connect to are for whoever gives it. */
  fetch: typeof globalThis.fetch;
}

/** Largest document of keys, in bytes (T-057). */
const maxBytes = 64 * 1024;

const timeoutMs = 2_500;

/** How long an issuer that gave no keys is left alone, in milliseconds. */
const patienceMs = 5_000;

/** Keys are fetched again after this long, and no sooner than this after the last time, whatever keys tokens name. */
const freshness = { cacheMaxAge: 10 * 60_000, cooldownDuration: 30_000 } as const;

/**
 * Finds keys of an issuer by the header of a token. They are kept, fetched again when a token names one that is not among
 * them, and not more often than twice a minute, so that made-up key ids cost the issuer nothing. `jose` for that: it
 * keeps one fetch for all who wait, and ends with keys that were withdrawn.
 * @returns a function that throws a JOSEError where there is no such key or more than one, and IssuerKeysUnavailable
 *   where the keys cannot be had
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
 * Reads the body of an answer up to a limit.
 * @param maxBytes limit
 * @throws RangeError for a larger one, of which no more is read
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
