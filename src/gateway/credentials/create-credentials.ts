import type { JsonRpcError } from '../../mcp/protocol.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type {
  AfterRefusal,
  CredentialOwner,
  CredentialSource,
  Credentials,
  PersonalCredentials,
} from './credentials.ts';

/** Source of the values of one credential. */
export interface ValueSource {
  find(caller: AuthInfo): Promise<{ value: string } | { error: JsonRpcError }>;
  /** See {@link PersonalCredentials.refused}. */
  refused(caller: AuthInfo, sinceMs: number): Promise<AfterRefusal>;
  /**
   * Calls back when the value of an account has changed or ended.
   * @returns stops calling back
   */
  onChange(tell: (account: CredentialOwner) => void): () => void;
  /** See {@link CredentialSource.onGiven}. */
  onGiven?(tell: (account: CredentialOwner) => void): () => void;
}

/** One credential of a backend: its place and its source. */
export interface PlacedValue {
  as: CredentialPlace;
  /** A value for everybody, or the source of the callers' values. */
  value: string | ValueSource;
}

/** Creates the credentials of a backend. If a caller lacks several, the error names the first. */
export function createCredentials(placed: readonly PlacedValue[]): PersonalCredentials {
  let forEverybody: Credentials = {};
  const personal: { as: CredentialPlace; source: ValueSource }[] = [];
  for (const { as, value } of placed)
    if (typeof value === 'string') forEverybody = placeValue(forEverybody, as, value);
    else personal.push({ as, source: value });

  return {
    async find(caller) {
      let credentials = forEverybody;
      for (const { as, source } of personal) {
        const found = await source.find(caller);
        if ('error' in found) return found;
        credentials = placeValue(credentials, as, found.value);
      }
      return credentials;
    },
    async refused(caller, sinceMs) {
      const outcomes: AfterRefusal[] = [];
      for (const { source } of personal) outcomes.push(await source.refused(caller, sinceMs));
      return outcomes.find((outcome) => outcome === 'renewed') ?? outcomes[0];
    },
    ...joinChanges(personal.map(({ source }) => source)),
    onGiven: (tell) => stopAll(personal.flatMap(({ source }) => source.onGiven?.(tell) ?? [])),
  };
}

/** Joins several sources of changes. */
export function joinChanges(
  sources: readonly Pick<CredentialSource, 'onChange'>[],
): Pick<CredentialSource, 'onChange'> {
  return {
    onChange: (tell) => stopAll(sources.map((source) => source.onChange(tell))),
  };
}

function stopAll(stops: readonly (() => void)[]): () => void {
  return () => {
    for (const stop of stops) stop();
  };
}

/** Place of a credential in a request to the backend, or in its environment. */
export type CredentialPlace =
  /** A header of each request. */
  | { header: string; prefix?: string | undefined }
  /** A variable of the environment of its process. */
  | { env: string }
  /** A member of `_meta.auth` of each request. */
  | { auth: string };

/** Reason why a value cannot be used in its place. */
type Misfit = 'empty' | 'control_characters' | 'not_ascii';

/**
 * Returns the reason why a value cannot be used in its place, or undefined. A header with a line break would end early,
 * and begin another.
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

/** Adds a value in its place. The value is used literally: nothing in it is expanded (T-153). */
export function placeValue(beside: Credentials, place: CredentialPlace, value: string): Credentials {
  if ('header' in place)
    return {
      ...beside,
      headers: { ...beside.headers, [place.header.toLowerCase()]: `${place.prefix ?? ''}${value}` },
    };
  if ('env' in place) return { ...beside, env: { ...beside.env, [place.env]: value } };
  return { ...beside, auth: { ...beside.auth, [place.auth]: value } };
}
