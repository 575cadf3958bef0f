import { printableLine } from './output.ts';

/**
 * Begins the sentence on a data folder that seems to have lost its database: its keys are older than a first start
 * leaves them (T-172).
 * @param data path of the folder
 * @param keysFrom when the oldest of its keys was made, epoch seconds
 */
export function describeMissingDatabase(data: string, keysFrom: number): string {
  const day = new Date(keysFrom * 1000).toISOString().slice(0, 10);
  return `No database was found in ${printableLine(data)}, though its keys are of ${day}`;
}
