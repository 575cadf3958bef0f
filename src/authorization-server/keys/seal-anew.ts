import { SealBroken, type SealedBox } from '../../crypto/sealed-box.ts';
import type { Logger } from '../../observability/logger.ts';
import type { SealedRows } from '../../storage/storage.ts';

/** What is sealed anew, and with what. */
export interface SealAnewOptions {
  rows: SealedRows;
  box: SealedBox;
  logger: Pick<Logger, 'warn'>;
}

/**
 * Creates the change of what the database holds from an old sealing key to the one in use, in the background and in
 * small batches.
 * @returns a function of the id of an old key, that gives whether nothing needs that key any more
 */
export function createSealAnew({ rows, box, logger }: SealAnewOptions): (keyId: string) => Promise<boolean> {
  return async (keyId) => {
    let unreadable = 0;
    await rows.reseal(keyId, (sealed, context) => {
      try {
        return box.seal(box.open(sealed, context), context);
      } catch (error) {
        if (!(error instanceof SealBroken)) throw error;
        unreadable++;
        return undefined;
      }
    });
    if (unreadable > 0)
      logger.warn(
        { keyId, rows: unreadable },
        'what is sealed under an old key cannot be opened, so the key is kept',
      );
    return !(await rows.countByKey()).has(keyId);
  };
}
