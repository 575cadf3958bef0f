import type { SealedBox } from '../../crypto/sealed-box.ts';
import {
  type BackendCredentialKey,
  type BackendCredentialStore,
  credentialContext,
} from '../../storage/backends.ts';
import { type EnteredField, type EnteredRoute, maxCredentialLength } from '../views/account/credentials.ts';

/** One credential that people may enter. */
export interface CredentialForm {
  name: string;
  /** What people call it. */
  label: string;
  /** Where they get it. */
  help?: string | undefined;
  /** Says why a value cannot be used where it is for; undefined where it can. */
  check(value: string): 'empty' | 'control_characters' | 'not_ascii' | undefined;
}

/** An MCP server behind the gate that people enter something for. */
export interface RouteForms {
  /** Its name in the settings. */
  route: string;
  /** What people call it. */
  label: string;
  credentials: readonly CredentialForm[];
}

/** What people may enter now, by route; what is not there is asked for no more. */
export type CredentialForms = () => readonly RouteForms[];

/** Why a value was not kept. */
export type NotKept = 'unknown' | 'too_long' | NonNullable<ReturnType<CredentialForm['check']>>;

/** What people have entered for MCP servers behind the gate. No value comes out of it. */
export interface OwnCredentials {
  /** Gives the routes there is something to enter for, or something entered, with what was. */
  list(accountId: string): Promise<EnteredRoute[]>;
  /** Keeps a value, sealed, in the place of one that is there. @returns why it did not */
  enter(key: BackendCredentialKey, value: string): Promise<NotKept | undefined>;
  /** Removes one; false where nothing was entered. */
  remove(key: BackendCredentialKey): Promise<boolean>;
}

/** What it works with. */
export interface OwnCredentialsOptions {
  forms: CredentialForms;
  store: Pick<BackendCredentialStore, 'listOf' | 'put' | 'remove'>;
  box: Pick<SealedBox, 'seal'>;
  /** Epoch seconds. */
  now: () => number;
}

/** Creates it. */
export function createOwnCredentials({ forms, store, box, now }: OwnCredentialsOptions): OwnCredentials {
  return {
    async list(accountId) {
      const entered = await store.listOf(accountId);
      const known = forms();
      const gone = [...new Set(entered.map(({ route }) => route))].filter(
        (route) => !known.some((form) => form.route === route),
      );
      const routes = [...known, ...gone.map((route) => ({ route, label: route, credentials: [] }))];
      return routes.map(({ route, label, credentials }) => {
        const own = entered.filter((one) => one.route === route);
        const asked: EnteredField[] = credentials.map(({ name, label: called, help }) => {
          const enteredAt = own.find((one) => one.name === name)?.enteredAt;
          return { name, label: called, help, enteredAt, isAsked: true };
        });
        const unasked: EnteredField[] = own
          .filter(({ name }) => !credentials.some((form) => form.name === name))
          .map(({ name, enteredAt }) => ({ name, label: name, enteredAt, isAsked: false }));
        return { route, label, fields: [...asked, ...unasked] };
      });
    },
    async enter(key, value) {
      const { accountId, route, name } = key;
      const form = forms()
        .find((one) => one.route === route)
        ?.credentials.find((one) => one.name === name);
      if (!form) return 'unknown';
      if (value.length > maxCredentialLength) return 'too_long';
      const misfit = form.check(value);
      if (misfit) return misfit;
      const isKept = await store.put(key, box.seal(value, credentialContext(accountId, route, name)), now());
      return isKept ? undefined : 'unknown';
    },
    remove: (key) => store.remove(key),
  };
}
