import { hash } from 'node:crypto';
import { patienceOf } from '../../mcp/upstreams/caller-upstreams.ts';
import { withMissingInput } from '../../mcp/upstreams/missing-input.ts';
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
   * Returns the value an account has entered; undefined if it has not.
   * @throws if it cannot be read
   */
  read(accountId: string, route: string, name: string): Promise<string | undefined>;
  /** Calls back when what an account has entered for a route changed or went. @returns stops calling back */
  onChange(route: string, tell: (accountId: string) => void): () => void;
}

/** A credential that each person enters. */
interface PersonValueOptions {
  /** Issuer of this installation: only its accounts have entered anything. */
  issuer: string;
  route: string;
  name: string;
  as: CredentialPlace;
  /** Display name of the backend. */
  backend: string;
  label: string;
  /** Returns the page on which an account enters it. */
  urlFor(accountId: string): string;
  entered: EnteredValues;
  logger: { error(details: object, message: string): void };
}

/** Returns true if a caller is a person of this installation, and no client that acts for itself. */
export function isPerson({ issuer, subject, clientId }: AuthInfo, ownIssuer: string): boolean {
  return issuer === ownIssuer && subject !== clientId;
}

/** Creates what gives each caller the value they entered themselves. */
export function createPersonValue(options: PersonValueOptions): ValueSource {
  const { issuer, route, name, as, backend, label, urlFor, entered, logger } = options;
  const named = { backend, label };
  const given = new GivenValues();

  /** A value that would not fit its place, because the operator moved it, is as none. */
  async function read(accountId: string): Promise<string | undefined> {
    const value = await entered.read(accountId, route, name);
    return value === undefined || checkFits(as, value) ? undefined : value;
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
    onChange: (tell: (account: CredentialOwner) => void) =>
      entered.onChange(route, async (accountId) => {
        // What cannot be read holds no more.
        const value = await read(accountId).catch(() => undefined);
        if (given.hasOutdated(accountId, value)) tell({ issuer, subject: accountId });
      }),
    onGiven: (tell) => entered.onChange(route, (accountId) => tell({ issuer, subject: accountId })),
  };
}

/** Most accounts remembered; of one beyond it is taken that it was given something. */
const defaultMaxAccounts = 10_000;

/** Hashes of the values passed to backends, by account: a change of a value that no backend got ends nothing. */
export class GivenValues {
  readonly #given = new Map<string, Set<string>>();
  readonly #maxAccounts: number;
  #hasForgotten = false;

  constructor(maxAccounts = defaultMaxAccounts) {
    this.#maxAccounts = maxAccounts;
  }

  /** Notes that a value was given. */
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
   * Returns true if anything was given that holds no more; what was given is forgotten then, because it ends.
   * @param value the one that holds now; undefined if there is none
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
