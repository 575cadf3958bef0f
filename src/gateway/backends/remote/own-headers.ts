import { headerNamePattern, isOwnHeader } from '../../../oauth/headers.ts';
import { readOperatorValue } from '../../credentials/operator-value.ts';

/** Headers an operator sets: values, or where they stand. */
export type RemoteHeaders = Readonly<Record<string, string | { env: string } | { file: string }>>;

/** Values of an operator: they are the same in every encoding. */
const valueForm = /^[\t\x20-\x7e]+$/;

/** Returns true if a request may have a header of this name beside its own. */
export function isFreeHeader(name: string): boolean {
  return headerNamePattern.test(name) && !isOwnHeader(name);
}

/**
 * Returns those headers of a caller that a request may have beside its own: none that says how long it is or whom it is
 * for.
 * @returns names and values in turn
 */
export function freeHeaders(headers: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries(headers)
    .filter(([name]) => isFreeHeader(name))
    .flat();
}

/**
 * Reads the headers that every request to a backend has.
 * @param ours environment of this process
 * @returns names and values in turn
 * @throws Error naming what cannot be used; values are in no message
 */
export function ownHeaders(
  headers: RemoteHeaders,
  ours: Readonly<Record<string, string | undefined>>,
): string[] {
  return Object.entries(headers).flatMap(([name, from]) => {
    if (!isFreeHeader(name)) throw new Error(`The header ${name} cannot be set: a request has its own.`);
    const read = typeof from === 'string' ? { value: from } : readOperatorValue(from, ours);
    if ('problem' in read) throw new Error(`The header ${name}: ${read.problem}.`);
    if (!valueForm.test(read.value))
      throw new Error(`The value of the header ${name} has characters that no header may have.`);
    return [name.toLowerCase(), read.value];
  });
}
