import { passwordLimits } from '../../crypto/password.ts';
import type { Texts } from '../texts/texts.ts';

/**
 * Reads a password that was typed twice, in the fields `next` and `repeat`.
 * @returns the password, or what is wrong with it in a sentence for the person
 */
export function readNewPassword(
  texts: Texts,
  form: URLSearchParams,
): { password: string } | { problem: string } {
  const words = texts.account.password;
  const password = form.get('next') ?? '';
  const { minCharacters, maxBytes } = passwordLimits;
  if ([...password].length < minCharacters) return { problem: words.tooShort(minCharacters) };
  if (Buffer.byteLength(password) > maxBytes) return { problem: words.tooLong(maxBytes) };
  if (password !== form.get('repeat')) return { problem: words.different };
  return { password };
}
