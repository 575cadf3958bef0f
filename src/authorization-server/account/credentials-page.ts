import type { SealedBox } from '../../crypto/sealed-box.ts';
import {
  type BackendCredentialKey,
  type BackendCredentialStore,
  credentialContext,
} from '../../storage/backends.ts';
import type { AuditLog } from '../audit.ts';
import { showPage } from '../interactions/page.ts';
import {
  type EnteredField,
  type EnteredRoute,
  maxCredentialLength,
  renderCredentials,
  renderCredentialsOfAnother,
  renderRouteCredentials,
} from '../views/account/credentials.ts';
import { isForAnother, PageMissing, type PersonalRequest, redirectToPage } from './account-request.ts';

/** Options of the pages of credentials for MCP servers. */
export interface CredentialsPageOptions {
  credentials: OwnCredentials;
  audit: AuditLog;
}

/**
 * Shows what the person has entered, and may enter.
 * @throws PageMissing if that is nothing
 */
export async function showCredentials(
  { ctx, texts, url, csrf, who }: PersonalRequest,
  { credentials }: CredentialsPageOptions,
): Promise<void> {
  const routes = await credentials.list(who.account.id);
  if (routes.length === 0) throw new PageMissing();
  showPage(ctx, renderCredentials(texts, { url, csrf, routes }));
}

async function requireRoute(
  { who, name }: PersonalRequest,
  { credentials }: CredentialsPageOptions,
): Promise<EnteredRoute> {
  const route = (await credentials.list(who.account.id)).find((one) => one.route === name);
  if (!route) throw new PageMissing();
  return route;
}

/** Result of the last form, if it names a credential that exists. */
function noticeOf({ ctx, texts }: PersonalRequest, { fields }: EnteredRoute): string | undefined {
  const words = texts.account.credentials;
  const labelOf = (value: unknown): string | undefined => fields.find(({ name }) => name === value)?.label;
  const entered = labelOf(ctx.query.entered);
  if (entered !== undefined) return words.enterDone(entered);
  return ctx.query.removed === undefined ? undefined : words.removeDone;
}

/**
 * Shows what is entered for one MCP server, never its value, with forms to enter, replace and remove it. Whoever is not the
 * account that a call was made by gets nothing but that word: it would wait for them in vain (C7-04).
 * @throws PageMissing
 */
export async function showRouteCredentials(
  request: PersonalRequest,
  options: CredentialsPageOptions,
  problem?: string,
): Promise<void> {
  const { ctx, texts, url, csrf } = request;
  const route = await requireRoute(request, options);
  if (isForAnother(request)) {
    ctx.status = 403;
    return showPage(ctx, renderCredentialsOfAnother(texts, { url, csrf, label: route.label }));
  }
  const notice = problem === undefined ? noticeOf(request, route) : undefined;
  showPage(ctx, renderRouteCredentials(texts, { url, csrf, problem, notice, route }));
}

/**
 * Keeps what somebody who has logged in of late entered.
 * @throws PageMissing if there is no such thing to enter
 */
export async function enterCredential(
  request: PersonalRequest,
  options: CredentialsPageOptions,
): Promise<void> {
  const { ctx, texts, form, who } = request;
  const accountId = who.account.id;
  const { route } = await requireRoute(request, options);
  if (isForAnother(request)) return showRouteCredentials(request, options);
  const name = form.get('credential') ?? '';
  // White space around it was copied along.
  const refused = await options.credentials.enter(
    { accountId, route, name },
    (form.get('value') ?? '').trim(),
  );
  if (refused === 'unknown') throw new PageMissing();
  if (refused) {
    ctx.status = 400;
    return showRouteCredentials(request, options, texts.account.credentials.refused[refused]);
  }
  options.audit('account.credential_entered', ctx, { accountId, route, credential: name });
  redirectToPage(request, `credentials/${route}?entered=${name}`);
}

/**
 * Removes one: what was made with it ends.
 * @throws PageMissing if nothing was entered
 */
export async function removeCredential(
  request: PersonalRequest,
  { credentials, audit }: CredentialsPageOptions,
): Promise<void> {
  const { ctx, form, who, name: route = '' } = request;
  const accountId = who.account.id;
  const name = form.get('credential') ?? '';
  if (!(await credentials.remove({ accountId, route, name }))) throw new PageMissing();
  audit('account.credential_removed', ctx, { accountId, route, credential: name });
  const isLeft = (await credentials.list(accountId)).some((one) => one.route === route);
  redirectToPage(request, isLeft ? `credentials/${route}?removed=1` : '');
}

/** One credential that people may enter. */
export interface CredentialForm {
  name: string;
  /** Display name. */
  label: string;
  /** Instructions for obtaining it. */
  help?: string | undefined;
  /** Returns the reason why a value cannot be used; undefined if it can. */
  check(value: string): 'empty' | 'control_characters' | 'not_ascii' | undefined;
}

/** An MCP server behind the gate that people enter something for. */
export interface RouteForms {
  /** Its name in the settings. */
  route: string;
  /** Display name. */
  label: string;
  credentials: readonly CredentialForm[];
}

/** Credentials that users may enter now, by route. */
export type CredentialForms = () => readonly RouteForms[];

/** Reason why a value was not stored. */
export type NotKept = 'unknown' | 'too_long' | NonNullable<ReturnType<CredentialForm['check']>>;

/** Credentials that users entered for MCP servers behind the gateway. Their values cannot be read. */
export interface OwnCredentials {
  /** Returns the routes there is something to enter for, or something entered, with what was. */
  list(accountId: string): Promise<EnteredRoute[]>;
  /** Keeps a value, sealed, in the place of one that is there. @returns why it did not */
  enter(key: BackendCredentialKey, value: string): Promise<NotKept | undefined>;
  /** Removes one; false if nothing was entered. */
  remove(key: BackendCredentialKey): Promise<boolean>;
}

/** Options of the entered credentials. */
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
