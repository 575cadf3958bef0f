import type { Credentials } from './credentials.ts';
import type { CredentialPlace } from './definition.ts';

/** Reason why a value does not fit its place. */
export type Misfit = 'empty' | 'control_characters' | 'not_ascii';

/**
 * Checks whether a value fits its place; undefined if it can. A header that could hold a line break would end the
 * request early, and begin another.
 * @see RFC 9110 section 5.5
 */
export function checkFits(place: CredentialPlace, value: string): Misfit | undefined {
  if (value === '') return 'empty';
  if ('header' in place) {
    if (/[\p{Cc}]/u.test(value)) return 'control_characters';
    return /^[\x20-\x7e]*$/.test(value) ? undefined : 'not_ascii';
  }
  // Keys in PEM have lines; a process cannot be given NUL.
  return /[^\P{Cc}\t\r\n]/u.test(value) ? 'control_characters' : undefined;
}

/**
 * Puts a value in its place, beside the other content. The value is used literally: nothing in it is expanded (T-153).
 */
export function placeValue(beside: Credentials, place: CredentialPlace, value: string): Credentials {
  if ('header' in place)
    return {
      ...beside,
      headers: { ...beside.headers, [place.header.toLowerCase()]: `${place.prefix ?? ''}${value}` },
    };
  if ('env' in place) return { ...beside, env: { ...beside.env, [place.env]: value } };
  return { ...beside, auth: { ...beside.auth, [place.auth]: value } };
}
