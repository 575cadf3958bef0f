import { memoizeLast } from '../../collections/caches.ts';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret } from '../../crypto/secret.ts';

/** The stored name of a grant. */
export const grantKey = memoizeLast((grantId) => hashSecret('Grant', grantId));

/** What sealed payloads are tied to: the row they stand in. */
export function payloadContext(kind: string, id: string): string {
  return `${kind}:${id}`;
}

/**
 * Opens a stored row.
 * @param kind what the row is, as its payload was sealed for
 * @returns what was sealed; the caller knows its shape
 * @throws SealBroken where no key opens it
 */
export function openPayload<T>(box: SealedBox, kind: string, { id, payload }: SealedRow): T {
  return JSON.parse(box.open(payload, payloadContext(kind, id))) as T;
}

/** A row as far as its payload goes. */
export interface SealedRow {
  id: string;
  payload: Uint8Array;
}

/** Returns the stored name of an initial access token. */
export function invitationId(token: string): string {
  return hashSecret('InitialAccessToken', token);
}
