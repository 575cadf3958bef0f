/**
 * Checks whether an issuer says that an e-mail address is verified. Only `true` and the text `"true"`, which some
 * providers send, say so; any other value that is present means that the address is not verified.
 * @param claim `email_verified`, or the member that stands for it
 * @param ifAbsent the result if the issuer does not send the claim
 * @see OpenID Connect Core 1.0 section 5.1 (FA-15, T-215)
 */
export function isEmailVerified(claim: unknown, ifAbsent = false): boolean {
  return claim === undefined ? ifAbsent : claim === true || claim === 'true';
}

/**
 * Returns the text that a rule compares a claim with: a text as it is, a whole number or a Boolean as JSON writes it.
 * @returns undefined for a list, an object, null, and a number that JSON.parse may have rounded: two ids over 2^53 can be
 *   the same number
 */
export function comparableClaim(claim: unknown): string | undefined {
  if (typeof claim === 'string') return claim;
  return typeof claim === 'boolean' || Number.isSafeInteger(claim) ? String(claim) : undefined;
}
