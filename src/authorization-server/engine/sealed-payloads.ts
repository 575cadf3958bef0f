import { setBounded } from '../../collections/caches.ts';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { openPayload, payloadContext, type SealedRow } from './stored-names.ts';

/** The payloads of stored rows of a kind. */
export interface SealedPayloads {
  /** Seals what a row is to hold. @param content what JSON has a form for */
  seal(id: string, content: unknown): Buffer;
  /** Gives what was sealed, parsed anew for each caller, who knows its shape. @throws SealBroken where no key opens it */
  open<T>(row: SealedRow): T;
}

/** How much of a kind is remembered: so many payloads, none of which is longer than so many bytes. */
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
