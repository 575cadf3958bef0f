import { patienceOf, withMissingInput } from '../../mcp/building-blocks.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { ValueSource } from './create-credentials.ts';
import {
  credentialMissing,
  credentialRefused,
  credentialUnavailable,
  noPerson,
} from './credential-errors.ts';
import type { CredentialOwner } from './credentials.ts';
import type { CredentialPlace } from './definition.ts';
import { GivenValues } from './given-values.ts';
import { checkFits } from './placing.ts';
import { waitFor } from './wait-for.ts';

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
export interface PersonValueOptions {
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
