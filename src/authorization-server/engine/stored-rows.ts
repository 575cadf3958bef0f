import { memoizeLast, setBounded } from '../../collections/caches.ts';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret } from '../../crypto/secret.ts';

/** The stored name of a grant. */
export const grantKey = memoizeLast((grantId) => hashSecret('Grant', grantId));

/** Returns the stored name of an initial access token. */
export function invitationId(token: string): string {
  return hashSecret('InitialAccessToken', token);
}

/** A row as far as its payload goes. */
export interface SealedRow {
  id: string;
  payload: Uint8Array;
}

/** Returns the context that binds a sealed payload to its row. */
export function payloadContext(kind: string, id: string): string {
  return `${kind}:${id}`;
}

/**
 * Opens a stored row.
 * @param kind kind of the row, for which its payload was sealed
 * @returns the sealed value; the caller knows its shape
 * @throws SealBroken if no key opens it
 */
export function openPayload<T>(box: SealedBox, kind: string, { id, payload }: SealedRow): T {
  return JSON.parse(box.open(payload, payloadContext(kind, id))) as T;
}

/** The payloads of stored rows of a kind. */
export interface SealedPayloads {
  /** Seals what a row is to hold. @param content what JSON has a form for */
  seal(id: string, content: unknown): Buffer;
  /**
   * Opens a sealed payload and parses it anew for each caller, who knows its shape.
   * @throws SealBroken if no key opens it
   */
  open<T>(row: SealedRow): T;
}

/** Limits of the cache for one kind: the number of payloads, and the length of each. */
const bounds = { payloads: 2_000, bytes: 4_096 } as const;

/** For how long: what is in them in the clear, such as the code itself, does not stay in memory. */
const rememberedMs = 60_000;

/** Creates the payloads of rows of which nothing is remembered. */
export function createSealedPayloads(box: SealedBox, kind: string): SealedPayloads {
  return {
    seal: (id, content) => box.seal(JSON.stringify(content), payloadContext(kind, id)),
    open: (row) => openPayload(box, kind, row),
  };
}

/**
 * Creates the payloads of rows that are read again soon: a code is redeemed seconds after it was made, a grant and a client
 * are looked at with each request, and processes of one client refresh with the same token at the same moment. The row
 * itself comes from the storage each time, so one that is gone is never opened; what was sealed here, or opened, is not
 * opened again from the very same bytes, for up to a minute. A row that is sealed anew has other bytes.
 */
export function createRememberedPayloads(box: SealedBox, kind: string): SealedPayloads {
  const remembered = new Map<string, { payload: Uint8Array; text: string }>();
  let willForget = false;

  function forgetAll(): void {
    remembered.clear();
    willForget = false;
  }

  function remember({ id, payload }: SealedRow, text: string): void {
    remembered.delete(id);
    if (payload.length > bounds.bytes) return;
    setBounded(remembered, id, { payload, text }, bounds.payloads);
    if (!willForget) setTimeout(forgetAll, rememberedMs).unref();
    willForget = true;
  }

  return {
    seal(id, content) {
      const text = JSON.stringify(content);
      const payload = box.seal(text, payloadContext(kind, id));
      remember({ id, payload }, text);
      return payload;
    },
    open<T>(row: SealedRow) {
      const { id, payload } = row;
      const known = remembered.get(id);
      if (known && (known.payload === payload || Buffer.compare(known.payload, payload) === 0))
        return JSON.parse(known.text) as T;
      const text = box.open(payload, payloadContext(kind, id));
      remember(row, text);
      return JSON.parse(text) as T;
    },
  };
}

/** Largest difference between the clocks of two machines, in seconds. */
export const maxClockSkewSeconds = 60;

/**
 * Returns true if a refresh token was used so recently that it may be sent again. A clock that was set back does not
 * open the window again, and a window of 0 seconds is never open (T-176).
 * @param consumedAt epoch seconds of its use
 * @param now epoch seconds
 */
export function isInGrace(consumedAt: number, now: number, graceSeconds: number): boolean {
  const age = now - consumedAt;
  return graceSeconds > 0 && age < graceSeconds && age >= -maxClockSkewSeconds;
}
