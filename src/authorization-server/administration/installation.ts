import type { RecordAction } from './recorded.ts';

/**
 * What an operator does to an installation as a whole.
 * @param record takes note of it
 */
export function administerInstallation(record: RecordAction) {
  return {
    /**
     * Notes that a backup was put in the place of the data, behind what the backup knows of.
     * @param restored how old the backup is, epoch seconds, where it tells; whether what was issued was kept
     */
    async noteRestored({
      asOf,
      keptLogins,
    }: {
      asOf?: number | undefined;
      keptLogins: boolean;
    }): Promise<void> {
      await record('installation.restored', {
        ...(asOf === undefined ? {} : { asOf: new Date(asOf * 1000).toISOString() }),
        keptLogins: String(keptLogins),
      });
    },
  };
}
