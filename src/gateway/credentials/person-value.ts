import { hash } from 'node:crypto';
import { patienceOf, withMissingInput } from '../../mcp/building-blocks.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import { type CredentialPlace, checkFits, type ValueSource } from './create-credentials.ts';
import {
  credentialMissing,
  credentialRefused,
  credentialUnavailable,
  noPerson,
} from './credential-errors.ts';
import { type CredentialOwner, waitFor } from './credentials.ts';

/** Values that users entered. */
export interface EnteredValues {
  /**
   * Returns the value that an account has entered.
   * @throws if it cannot be read
   */
  read(accountId: string, route: string, name: string): Promise<string | undefined>;
  /**
   * Calls back when a value of a route was changed or deleted.
   * @returns stops calling back
   */
  onChange(route: string, tell: (accountId: string) => void): () => void;
}

/** Options of a credential that each user enters. */
interface PersonValueOptions {
  /** Issuer of this installation: other accounts cannot have entered anything. */
  issuer: string;
  route: string;
  name: string;
  as: CredentialPlace;
  /** Display name of the backend. */
  backend: string;
  label: string;
  /** Returns the page for entering the credential. */
  urlFor(accountId: string): string;
  entered: EnteredValues;
  logger: { error(details: object, message: string): void };
}

/** Returns true if the caller is a user of this installation, and not a client that acts for itself. */
export function isPerson({ issuer, subject, clientId }: AuthInfo, ownIssuer: string): boolean {
  return issuer === ownIssuer && subject !== clientId;
}

/** Creates the source of values that users enter. */
export function createPersonValue(options: PersonValueOptions): ValueSource {
  const { issuer, route, name, as, backend, label, urlFor, entered, logger } = options;
  const named = { backend, label };
  const given = new GivenValues();
  const listeners = new Set<(account: CredentialOwner) => void>();
  let stopHearing: (() => void) | undefined;

  /** Reads a value. One that does not fit its place any more, because the operator changed that, counts as missing. */
  async function read(accountId: string): Promise<string | undefined> {
    const value = await entered.read(accountId, route, name);
    return value === undefined || checkFits(as, value) ? undefined : value;
  }

  /** Tells all listeners of a change, once: what was given is forgotten then. */
  async function hear(accountId: string): Promise<void> {
    // What cannot be read holds no more.
    const value = await read(accountId).catch(() => undefined);
    if (!given.hasOutdated(accountId, value)) return;
    for (const tell of listeners) tell({ issuer, subject: accountId });
  }

  return {
    async find(caller) {
      if (!isPerson(caller, issuer)) return { error: noPerson(named) };
      const { subject } = caller;
      try {
        const value = await waitFor(() => read(subject), patienceOf(caller));
        if (value !== undefined) {
          given.note(subject, value);
          return { value };
        }
      } catch (error) {
        logger.error({ err: error, backend: route, credential: name }, 'a credential cannot be read');
        return { error: credentialUnavailable(named) };
      }
      return {
        error: credentialMissing(named, {
          name: `credential-${route}`,
          key: JSON.stringify(['credential', route, name, subject]),
          message: `It needs your ${label}. Enter it on your account page.`,
          url: urlFor(subject),
          isGiven: async () => (await read(subject)) !== undefined,
        }),
      };
    },
    async refused(caller) {
      const { subject } = caller;
      const url = urlFor(subject);
      const current = () => read(subject).catch(() => undefined);
      const refused = await current();
      const isGiven = async (): Promise<boolean> => (await current()) !== refused;
      if (await waitFor(async () => (await isGiven()) || undefined, patienceOf(caller))) return 'renewed';
      const advice = 'Enter another one on your account page.';
      const error = credentialRefused({ backend, label: `your ${label}` }, advice, url);
      return {
        error: withMissingInput(error, {
          name: `credential-${route}`,
          key: JSON.stringify(['refused', route, name, subject]),
          message: `It does not accept your ${label}. ${advice}`,
          url,
          isGiven,
        }),
      };
    },
    onChange(tell) {
      const listener: typeof tell = (account) => tell(account);
      listeners.add(listener);
      stopHearing ??= entered.onChange(route, hear);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stopHearing?.();
        stopHearing = undefined;
      };
    },
    onGiven: (tell) => entered.onChange(route, (accountId) => tell({ issuer, subject: accountId })),
  };
}

/** Maximum number of remembered accounts; other accounts count as having passed a value on. */
const defaultMaxAccounts = 10_000;

/**
 * Hashes of the values that were passed to backends, by account. If no backend got a value, its change ends nothing.
 */
export class GivenValues {
  readonly #given = new Map<string, Set<string>>();
  readonly #maxAccounts: number;
  #hasForgotten = false;

  constructor(maxAccounts = defaultMaxAccounts) {
    this.#maxAccounts = maxAccounts;
  }

  /** Takes note that a value was passed on. */
  note(accountId: string, value: string): void {
    const own = this.#given.get(accountId) ?? new Set();
    own.add(digest(value));
    this.#given.set(accountId, own);
    const [oldest] = this.#given.keys();
    if (this.#given.size <= this.#maxAccounts || oldest === undefined) return;
    this.#given.delete(oldest);
    this.#hasForgotten = true;
  }

  /**
   * Returns true if an outdated value was passed on, and forgets it.
   * @param value the current value, if there is one
   */
  hasOutdated(accountId: string, value: string | undefined): boolean {
    const own = this.#given.get(accountId);
    if (!own) return this.#hasForgotten;
    const current = value === undefined ? undefined : digest(value);
    if ([...own].every((given) => given === current)) return false;
    this.#given.delete(accountId);
    return true;
  }
}

function digest(value: string): string {
  return hash('sha256', value, 'base64url');
}
