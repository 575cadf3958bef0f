import type { Credentials } from './credentials.ts';
import type { CredentialPlace } from './definition.ts';

/** Why a value cannot stand at a place. */
export type Misfit = 'empty' | 'control_characters' | 'not_ascii';

/**
 * Says why a value cannot stand where the backend looks for it; undefined where it can. A header that could hold a line
 * break would end the request early, and begin another.
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
 * Puts a value where the backend looks for it, beside what is there. It is taken as it is: nothing in it is expanded
 * (T-153).
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
