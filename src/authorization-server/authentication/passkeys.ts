import { isIP } from 'node:net';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret, randomSecret } from '../../crypto/secret.ts';
import type { Account, PasskeyStore } from '../../storage/accounts.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import { payloadContext } from '../engine/stored-rows.ts';
import { currentWriteSet } from '../engine/write-set.ts';

/** Options of the passkeys. */
export interface PasskeyOptions {
  store: PasskeyStore;
  challenges: Challenges;
  /** The public URL: its host is the relying party. */
  issuer: string;
  /** Epoch seconds. */
  now: () => number;
}

/** Passkeys: registered by their person, and a login by themselves. */
export interface Passkeys {
  /** True if browsers take passkeys for this host: not for a bare address. */
  isOffered: boolean;
  /** Options of a login for the browser, JSON; undefined if nobody here has a passkey. */
  loginOptions(binding: string): Promise<string | undefined>;
  /** Options of a registration for the browser, JSON. */
  registrationOptions(account: Account, binding: string): Promise<string>;
  /**
   * Checks what a browser made of {@link loginOptions}.
   * @returns whose passkey it is and how it is kept (RFC 8176); undefined if it is not right
   */
  verifyLogin(response: string, binding: string): Promise<{ accountId: string; amr: string[] } | undefined>;
  /**
   * Keeps a new passkey.
   * @returns false if the response is not right; 'taken' if the passkey is known or the account has too many
   */
  register(account: Account, name: string, response: string, binding: string): Promise<boolean | 'taken'>;
}

/** EdDSA, ES256 and RS256: what devices have, and Node.js verifies without experiments (COSE numbers). */
const supportedAlgorithmIDs = [-8, -7, -257];

/** Maximum number of passkeys of an account. */
const maxPasskeys = 20;

/** Loaded with the first passkey: it takes a fifth of the time of a start, and many installations have none. */
const loadWebauthn = () => import('@simplewebauthn/server');

function parseJson<T>(text: string): T | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as T) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Creates the passkeys. `@simplewebauthn/server` because it verifies every attestation and signature format with tests
 * against real devices. The person is always verified by their device, so a passkey is a login by itself.
 * @see Web Authentication Level 3 sections 7.1, 7.2
 */
export function createPasskeys({ store, challenges, issuer, now }: PasskeyOptions): Passkeys {
  const { hostname: rpID, origin } = new URL(issuer);
  const isOffered = isIP(rpID.replace(/^\[|\]$/g, '')) === 0;
  const expected = { expectedOrigin: origin, expectedRPID: rpID, requireUserVerification: true } as const;
  const bytesOf = (challenge: string) => Uint8Array.from(Buffer.from(challenge, 'base64url'));

  return {
    isOffered,
    async loginOptions(binding) {
      if (!isOffered || !(await store.isAnyStored())) return undefined;
      const { generateAuthenticationOptions } = await loadWebauthn();
      const challenge = bytesOf(challenges.issue(binding));
      return JSON.stringify(
        await generateAuthenticationOptions({ rpID, challenge, userVerification: 'required' }),
      );
    },
    async registrationOptions(account, binding) {
      const { generateRegistrationOptions } = await loadWebauthn();
      const kept = await store.listOf(account.id);
      const options = await generateRegistrationOptions({
        rpID,
        rpName: rpID,
        userID: Uint8Array.from(Buffer.from(account.id)),
        userName: account.email,
        userDisplayName: account.email,
        challenge: bytesOf(challenges.issue(binding)),
        attestationType: 'none',
        supportedAlgorithmIDs,
        excludeCredentials: kept.map(({ id }) => ({ id })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
      return JSON.stringify(options);
    },
    async verifyLogin(response, binding) {
      const challenge = await challenges.take(binding);
      const parsed = parseJson<AuthenticationResponseJSON>(response);
      const kept = typeof parsed?.id === 'string' ? await store.find(parsed.id) : undefined;
      if (!parsed || !kept || challenge === undefined) return undefined;
      const { verifyAuthenticationResponse } = await loadWebauthn();
      const verified = await verifyAuthenticationResponse({
        ...expected,
        response: parsed,
        expectedChallenge: challenge,
        credential: { id: kept.id, publicKey: Uint8Array.from(kept.publicKey), counter: kept.counter },
      }).catch(() => undefined);
      if (!verified?.verified) return undefined;
      const isUsed = await store.use(kept.id, verified.authenticationInfo.newCounter, now());
      const key = kept.isSynced ? 'swk' : 'hwk';
      return isUsed ? { accountId: kept.accountId, amr: [key, 'user', 'mfa'] } : undefined;
    },
    async register(account, name, response, binding) {
      const challenge = await challenges.take(binding);
      const parsed = parseJson<RegistrationResponseJSON>(response);
      if (!parsed || challenge === undefined) return false;
      const { verifyRegistrationResponse } = await loadWebauthn();
      const verified = await verifyRegistrationResponse({
        ...expected,
        response: parsed,
        expectedChallenge: challenge,
        supportedAlgorithmIDs,
      }).catch(() => undefined);
      if (!verified?.verified) return false;
      const { credential, credentialDeviceType } = verified.registrationInfo;
      const isAdded = await store.add(
        {
          id: credential.id,
          accountId: account.id,
          name,
          publicKey: credential.publicKey,
          counter: credential.counter,
          isSynced: credentialDeviceType === 'multiDevice',
          transports: credential.transports ?? [],
          createdAt: now(),
        },
        maxPasskeys,
      );
      return isAdded || 'taken';
    },
  };
}

/** Maximum time for unlocking a passkey, in seconds. */
const challengeSeconds = 600;

const kind = 'PasskeyChallenge';

/** Challenges that passkeys sign; each is made for one page in one browser and accepted once. */
export interface Challenges {
  /** Makes the challenge of a page, in the place of the one before. @param binding the page and the browser */
  issue(binding: string): string;
  /** Takes the challenge of a page; undefined if there is none. Of many who take it at once one is committed. */
  take(binding: string): Promise<string | undefined>;
}

/**
 * Creates the challenges (Web Authentication section 13.4.3). They are written and taken in the commit of the request,
 * which fails if another request took the same one.
 * @param now epoch seconds
 */
export function createChallenges(artifacts: ArtifactStore, box: SealedBox, now: () => number): Challenges {
  const writes = () => {
    const set = currentWriteSet();
    if (!set) throw new Error('a challenge belongs to a request');
    return set;
  };
  return {
    issue(binding) {
      const id = hashSecret(kind, binding);
      const challenge = randomSecret();
      const payload = box.seal(challenge, payloadContext(kind, id));
      writes().put({ type: 'put', kind, id, payload, expiresAt: now() + challengeSeconds }, 'none');
      return challenge;
    },
    async take(binding) {
      const id = hashSecret(kind, binding);
      const row = await artifacts.find(kind, id);
      if (!row) return undefined;
      writes().add({ type: 'remove', kind, id, mustExist: true });
      return row.expiresAt > now() ? box.open(row.payload, payloadContext(kind, id)) : undefined;
    },
  };
}
