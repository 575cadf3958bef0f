import { Secret, TOTP } from 'otpauth';

/** Time steps a code may be off, for clocks that differ (RFC 6238 section 5.2). */
const window = 1;

const stepSeconds = 30;

function totpOf(secret: string, label = '', issuer = ''): TOTP {
  // `otpauth` because it is small, has one dependency and compares in constant time.
  return new TOTP({ secret: Secret.fromBase32(secret), digits: 6, period: stepSeconds, label, issuer });
}

/** Makes a shared secret of 160 bits, base32 (RFC 4226 section 4, R6). */
export function makeOneTimeSecret(): string {
  return new Secret({ size: 20 }).base32;
}

/**
 * Gives the time step whose code this is.
 * @param secret base32
 * @param code what the person typed; blanks in it do not matter
 * @param now epoch seconds
 * @returns undefined where it is no code of a step near now
 * @see RFC 6238 section 4
 */
export function findTimeStep(secret: string, code: string, now: number): number | undefined {
  const token = code.replace(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const delta = totpOf(secret).validate({ token, timestamp: now * 1000, window });
  return delta === null ? undefined : Math.floor(now / stepSeconds) + delta;
}

/**
 * The URI an authenticator app reads from the QR code.
 * @param account what the app shows, the e-mail address
 * @param issuer whose account it is, the host of this server
 */
export function oneTimeKeyUri(secret: string, account: string, issuer: string): string {
  return totpOf(secret, account, issuer).toString();
}
