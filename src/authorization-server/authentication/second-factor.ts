import { Secret, TOTP } from 'otpauth';
import { randomPassword } from '../../crypto/password.ts';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret } from '../../crypto/secret.ts';
import type { OneTimeCodeStore } from '../../storage/accounts.ts';
import { payloadContext } from '../engine/stored-rows.ts';

/** One-time codes of accounts: on or off, and checked. */
export interface SecondFactor {
  /** Returns true if a login of this account needs a code. */
  isNeeded(accountId: string): Promise<boolean>;
  /** Returns the number of unused recovery codes; undefined if one-time codes are off. */
  recoveryCodesLeft(accountId: string): Promise<number | undefined>;
  /** Takes a code of the app, or a recovery code; each is taken once. */
  check(accountId: string, code: string): Promise<boolean>;
  /**
   * Turns codes on once the person has shown that their app knows the secret.
   * @returns recovery codes, to be shown once; undefined if the code is not right or codes are on already
   */
  turnOn(accountId: string, secret: string, code: string): Promise<string[] | undefined>;
  /** Makes new recovery codes in the place of the old ones; undefined if codes are off. */
  renewRecoveryCodes(accountId: string): Promise<string[] | undefined>;
  /** Turns one-time codes off. */
  turnOff(accountId: string): Promise<void>;
}

const recoveryCodeCount = 10;

function makeRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodeCount }, randomPassword);
}

/** The name under which a recovery code is stored: 99 random bits need no slow hash. */
function recoveryId(accountId: string, code: string): string {
  return hashSecret('RecoveryCode', `${accountId} ${code.trim().toLowerCase()}`);
}

/**
 * Creates the second factor (RFC 6238). Secrets are sealed at rest, recovery codes hashed.
 * @param now epoch seconds
 */
export function createSecondFactor(store: OneTimeCodeStore, box: SealedBox, now: () => number): SecondFactor {
  const contextOf = (accountId: string): string => payloadContext('OneTimeCodes', accountId);
  const idsOf = (accountId: string, codes: string[]): string[] =>
    codes.map((code) => recoveryId(accountId, code));

  return {
    isNeeded: async (accountId) => (await store.find(accountId)) !== undefined,
    recoveryCodesLeft: async (accountId) => (await store.find(accountId))?.recoveryCodesLeft,
    async check(accountId, code) {
      const kept = await store.find(accountId);
      if (!kept) return false;
      const step = findTimeStep(box.open(kept.secret, contextOf(accountId)), code, now());
      if (step !== undefined) return store.useStep(accountId, step);
      return store.useRecoveryCode(accountId, recoveryId(accountId, code));
    },
    async turnOn(accountId, secret, code) {
      const lastStep = findTimeStep(secret, code, now());
      if (lastStep === undefined) return undefined;
      const recoveryCodes = makeRecoveryCodes();
      const sealed = box.seal(secret, contextOf(accountId));
      const codes = { secret: sealed, lastStep, createdAt: now() };
      return (await store.enable(accountId, codes, idsOf(accountId, recoveryCodes)))
        ? recoveryCodes
        : undefined;
    },
    async renewRecoveryCodes(accountId) {
      const recoveryCodes = makeRecoveryCodes();
      return (await store.replaceRecoveryCodes(accountId, idsOf(accountId, recoveryCodes)))
        ? recoveryCodes
        : undefined;
    },
    async turnOff(accountId) {
      await store.disable(accountId);
    },
  };
}

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
 * Returns the time step whose code this is.
 * @param secret base32
 * @param code what the person typed; blanks in it do not matter
 * @param now epoch seconds
 * @returns undefined if it is no code of a step near now
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
