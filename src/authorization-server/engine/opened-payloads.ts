import type { SealedBox } from '../../crypto/sealed-box.ts';
import { payloadContext, type SealedRow } from './stored-names.ts';

/** How many opened payloads of a kind are kept, about 1 KB each. */
const maxOpened = 1_000;

/**
 * Creates a way to open stored rows of a kind that are read again and again and seldom change. The row itself comes from
 * the database each time, so one that is gone is never opened; what was opened from the very same bytes is not opened
 * again. A row that is sealed anew has other bytes.
 * @returns gives what was sealed, parsed anew for each caller, who knows its shape; throws SealBroken where no key opens it
 */
export function createPayloadOpener(box: SealedBox, kind: string): <T>(row: SealedRow) => T {
  const opened = new Map<string, { payload: Uint8Array; text: string }>();

  function open({ id, payload }: SealedRow): string {
    const known = opened.get(id);
    if (known && (known.payload === payload || Buffer.compare(known.payload, payload) === 0))
      return known.text;
    const text = box.open(payload, payloadContext(kind, id));
    const [oldest] = opened.size >= maxOpened ? opened.keys() : [];
    if (oldest !== undefined) opened.delete(oldest);
    opened.set(id, { payload, text });
    return text;
  }

  return <T>(row: SealedRow) => JSON.parse(open(row)) as T;
}
