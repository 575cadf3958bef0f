import type { JsonRpcError } from '../../mcp/protocol.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type {
  AfterRefusal,
  CredentialOwner,
  CredentialSource,
  Credentials,
  PersonalCredentials,
} from './credentials.ts';
import type { CredentialPlace } from './definition.ts';
import { placeValue } from './placing.ts';

/** Returns the value of one credential. */
export interface ValueSource {
  find(caller: AuthInfo): Promise<{ value: string } | { error: JsonRpcError }>;
  /** See {@link PersonalCredentials.refused}. */
  refused(caller: AuthInfo, sinceMs: number): Promise<AfterRefusal>;
  /** Calls back when the value of an account changed or ended. @returns stops calling back */
  onChange(tell: (account: CredentialOwner) => void): () => void;
  /** See {@link CredentialSource.onGiven}. */
  onGiven?(tell: (account: CredentialOwner) => void): () => void;
}

/** One credential of a backend: if it stands and comes from. */
export interface PlacedValue {
  as: CredentialPlace;
  /** A value for everybody, or what finds that of a caller. */
  value: string | ValueSource;
}

/** Creates what gives a backend its credentials. If one is missing, the first in their order is asked for. */
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

/** Joins what tells that credentials changed. */
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
