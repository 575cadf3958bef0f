import { randomUUID } from 'node:crypto';

const process = randomUUID();
let count = 0;

/**
 * Returns an id that no other process of the installation gives, before or after a restart: what a client kept from
 * yesterday can never mean something of today (T-128). It is no secret.
 */
export function uniqueId(): string {
  count++;
  return `${process}-${count.toString(36)}`;
}
