import { createPasswordHasher, type PasswordHasher, passwordQueueLimits } from '../../crypto/password.ts';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Limit, Limiters, LimitName } from '../limits.ts';
import { createLogin, type Login, type LoginLimits } from '../login.ts';
import { type Authentication, createAuthentication, createPendingLogins } from './authentication.ts';
import { createKnownDevices, type KnownDevices } from './known-device.ts';
import { createChallenges, createPasskeys, type Passkeys } from './passkeys.ts';
import { createSecondFactor, type SecondFactor } from './second-factor.ts';

/** Parts of the ways to log in. */
export interface WaysToLogInOptions {
  issuer: string;
  storage: Pick<Storage, 'accounts' | 'artifacts' | 'passkeys' | 'oneTimeCodes'>;
  box: SealedBox;
  /** Cookie keys of the installation. */
  cookieKeys: readonly string[];
  limits: { logins: LoginLimits; codes: Limit };
  limiters: Limiters;
  /** Counts a request that found no place in the password queue. */
  countLimited: (limit: LimitName) => void;
  /** Epoch seconds. */
  now: () => number;
}

/** The ways to log in, and what else has to do with passwords, codes and passkeys. */
export interface WaysToLogIn {
  hasher: PasswordHasher;
  login: Login;
  authentication: Authentication;
  secondFactor: SecondFactor;
  passkeys: Passkeys;
  devices: KnownDevices;
}

/** Puts the ways to log in together: one count of attempts and one queue of hashes for all pages (T-117, T-118). */
export function createWaysToLogIn(options: WaysToLogInOptions): WaysToLogIn {
  const { issuer, storage, box, cookieKeys, limits, limiters, countLimited, now } = options;
  const { accounts, artifacts } = storage;
  const hasher = createPasswordHasher(passwordQueueLimits, () => countLimited('passwordQueue'));
  const login = createLogin(accounts, hasher, limits.logins, limiters);
  const secondFactor = createSecondFactor(storage.oneTimeCodes, box, now);
  const challenges = createChallenges(artifacts, box, now);
  const passkeys = createPasskeys({ store: storage.passkeys, challenges, issuer, now });
  const devices = createKnownDevices(cookieKeys, issuer);
  const authentication = createAuthentication({
    accounts,
    login,
    secondFactor,
    passkeys,
    pending: createPendingLogins(box, now),
    devices,
    limits: { codes: limits.codes, perAddress: limits.logins.perAddress },
    limiters,
  });
  return { hasher, login, authentication, secondFactor, passkeys, devices };
}
