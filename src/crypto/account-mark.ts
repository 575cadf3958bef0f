import { hash } from 'node:crypto';

/**
 * Gives a short mark of an account for URLs that pass through other hands: it tells whether somebody is that account, and
 * not which one it is. It is no secret and opens nothing.
 * @returns 16 hexadecimal digits
 */
export function accountMark(accountId: string): string {
  return hash('sha256', `account mark\0${accountId}`, 'hex').slice(0, 16);
}
