import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonRpcError } from '../../mcp/protocol.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';

/** Credentials for a backend on behalf of one caller; never the caller's own token (A7-04). */
export interface Credentials {
  /** Headers of each request, by their names in lower case. */
  headers?: Readonly<Record<string, string>>;
  /** Returns further headers for one request, such as an assertion; called for each request. */
  freshHeaders?: () => Readonly<Record<string, string>>;
  /** Environment variables of a process. */
  env?: Readonly<Record<string, string>>;
  /** Members of `_meta.auth` of each request (Rest, B7-16). */
  auth?: Readonly<Record<string, unknown>>;
}

/** Owner of credentials. */
export type CredentialOwner = Pick<AuthInfo, 'issuer' | 'subject'>;

/** Source of the credentials of callers. */
export interface CredentialSource {
  /** Returns the credentials of a caller, or the error of the request if there are none. Never rejects. */
  find(caller: AuthInfo): Promise<Credentials | { error: JsonRpcError }>;
  /**
   * Calls back when the credentials of an account have changed or ended: processes and connections with the old ones
   * must end.
   * @returns stops calling back
   */
  onChange(tell: (account: CredentialOwner) => void): () => void;
  /**
   * Calls back when an account may have entered a missing credential; absent if that is not known.
   * @returns stops calling back
   */
  onGiven?(tell: (account: CredentialOwner) => void): () => void;
}

/** Result for rejected credentials: new ones, or the error of the request. */
export type AfterRefusal = 'renewed' | { error: JsonRpcError };

/** A source of credentials of which some belong to the callers. */
export interface PersonalCredentials extends CredentialSource {
  /**
   * Takes note that the backend has rejected the credentials of a caller (401), and renews them if possible.
   * @param sinceMs start of the rejected request, by `performance.now()`
   * @returns undefined if none of the credentials belongs to the caller
   */
  refused(caller: AuthInfo, sinceMs: number): Promise<AfterRefusal | undefined>;
}

/** Interval of the checks, in milliseconds. */
const lookEveryMs = 500;

/**
 * Looks for something again and again.
 * @param patienceMs maximum time, in milliseconds; 0 for one look
 * @returns undefined if it was not found in time
 */
export async function waitFor<T>(
  look: () => Promise<T | undefined>,
  patienceMs: number,
): Promise<T | undefined> {
  const endsMs = performance.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found !== undefined || performance.now() >= endsMs) return found;
    await sleep(lookEveryMs);
  }
}
