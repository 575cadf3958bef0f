import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import { parseScope } from '../../oauth/scope.ts';
import { loadDeviceRequest } from '../device/engine-feature.ts';
import type { ProtectedResource, ResourceRegistry } from '../resources.ts';
import type { ClientSummary } from '../views/client-summary.ts';
import type { AnswerTarget } from '../views/redirect-target.ts';
import { navigate } from './page.ts';
import { passOf, withPass } from './page-pass.ts';

/** An interaction as the engine keeps it. */
export type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** The authorization request a person is asked about. */
export interface AskedFor {
  client: ClientSummary;
  clientId: string;
  /** Target of the response. */
  answer: AnswerTarget;
  resource: ProtectedResource;
  /** True if the person chose that resource, because the request named none. */
  isServerChosen: boolean;
  /** True if the client may refresh, that is, act while the person is away. */
  refreshes: boolean;
  /** Scopes asked for that exist here. */
  scopes: string[];
}

/** The note that a person chose the server; it passes from page to page with the other answers. */
interface ServerChoice {
  serverChosen?: boolean;
}

/** Keeps the server that a person chose with the interaction; the caller stores it. @param scope for that server */
export function chooseServer(interaction: Interaction, resource: string, scope: string): void {
  Object.assign(interaction.params, { resource, scope });
  interaction.lastSubmission = { ...interaction.lastSubmission, serverChosen: true };
}

/**
 * Loads the interaction of a request. It opens only in the browser that has its cookie (T-015).
 * @param uid from the URL; the cookie has to name the same one
 * @throws errors.SessionNotFound if it is over, never was, or belongs to another browser
 */
export async function loadInteraction(provider: Provider, ctx: Context, uid: string): Promise<Interaction> {
  const interaction = await provider.interactionDetails(ctx.req, ctx.res);
  if (interaction.uid !== uid)
    throw new errors.SessionNotFound('another interaction is open in this browser');
  return interaction;
}

/**
 * Reads what the client asked for out of an interaction.
 * @param nowSeconds epoch seconds
 * @throws errors.SessionNotFound if the client was removed meanwhile or the code of a device has expired,
 *   errors.InvalidRedirectUri if the client took the redirect URI back
 */
export async function readRequest(
  provider: Provider,
  interaction: Interaction,
  resources: ResourceRegistry,
  identityScopes: readonly string[],
  nowSeconds: number,
): Promise<AskedFor> {
  const { client_id: clientId, redirect_uri: redirectUri, resource, scope } = interaction.params;
  const { deviceCode } = interaction;
  const client = await provider.Client.find(String(clientId));
  if (!client) throw new errors.SessionNotFound('the client was removed');
  // The engine looked when the request came; a document may say something else by now (T-075).
  if (!deviceCode && !client.redirectUriAllowed(String(redirectUri))) throw new errors.InvalidRedirectUri();
  const first = Array.isArray(resource) ? resource[0] : resource;
  const target = (typeof first === 'string' ? resources.find(first) : undefined) ?? resources.default;
  const known = new Set([...Object.keys(target.scopes), ...identityScopes]);
  return {
    clientId: client.clientId,
    client: {
      name: client.clientName ?? '',
      clientId: client.clientId,
      ...(client.clientUri ? { uri: client.clientUri } : undefined),
    },
    answer: deviceCode
      ? { device: await loadDeviceRequest(provider, deviceCode, nowSeconds) }
      : { redirectUri: String(redirectUri) },
    refreshes: client.grantTypeAllowed('refresh_token'),
    resource: target,
    isServerChosen: (interaction.lastSubmission as ServerChoice | undefined)?.serverChosen === true,
    scopes: parseScope(String(scope ?? '')).filter((entry) => known.has(entry)),
  };
}

/**
 * Answers an interaction and sends the browser on to where the engine takes it up again, with a GET so that no
 * form is posted twice (T-018). Only the page whose form answered it can go on; see `page-pass.ts`.
 */
export async function finishInteraction(
  ctx: Context,
  interaction: Interaction,
  result: NonNullable<Interaction['result']>,
): Promise<void> {
  const answer = 'error' in result ? result : { ...interaction.lastSubmission, ...result };
  interaction.result = { ...answer, pass: passOf(ctx) };
  await interaction.persist();
  resumeInteraction(ctx, interaction);
}

/**
 * Whoever else is logged in in this browser by now is logged out, so that the engine starts a new session, and the
 * interaction is freed from a session that is no longer the browser's.
 */
export async function leaveOtherAccount(
  ctx: Context,
  provider: Provider,
  interaction: Interaction,
  accountId: string,
): Promise<void> {
  const present = await provider.Session.get(ctx);
  const stays = present.accountId === undefined || present.accountId === accountId;
  if (!stays) await present.destroy();
  if (!stays || present.uid !== interaction.session?.uid) interaction.session = undefined;
}

/** Redirects the browser to the URL at which the engine resumes a finished interaction. */
export function resumeInteraction(
  ctx: Context,
  { returnTo, result, deviceCode }: Pick<Interaction, 'returnTo' | 'result' | 'deviceCode'>,
): void {
  const endsAtApp = !deviceCode && (result?.error !== undefined || result?.consent !== undefined);
  navigate(ctx, withPass(ctx, returnTo), endsAtApp ? 'app' : 'step');
}
