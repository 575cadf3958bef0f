import type { SealedBox } from '../../crypto/sealed-box.ts';
import { payloadContext, type SealedRow } from './stored-names.ts';

/** The payloads of stored rows of a kind. */
export interface SealedPayloads {
  /** Seals what a row is to hold. @param content what JSON has a form for */
  seal(id: string, content: unknown): Buffer;
  /** Gives what was sealed, parsed anew for each caller, who knows its shape. @throws SealBroken where no key opens it */
  open<T>(row: SealedRow): T;
}

/** How many payloads of a kind are remembered, about 1 KB each. */
const maxRemembered = 1_000;

/**
 * Creates the payloads of rows that are read again soon: a code is redeemed seconds after it was made. The row itself comes
 * from the database each time, so one that is gone is never opened; what was sealed here, or opened, is not opened again
 * from the very same bytes. A row that is sealed anew has other bytes.
 */
export function createSealedPayloads(box: SealedBox, kind: string): SealedPayloads {
  const remembered = new Map<string, { payload: Uint8Array; text: string }>();

  function remember({ id, payload }: SealedRow, text: string): void {
    remembered.delete(id);
    const [oldest] = remembered.size >= maxRemembered ? remembered.keys() : [];
    if (oldest !== undefined) remembered.delete(oldest);
    remembered.set(id, { payload, text });
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
