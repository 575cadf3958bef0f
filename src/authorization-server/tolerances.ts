import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { ToleranceName } from '../oauth/tolerances.ts';
import { loggable } from '../observability/loggable.ts';
import type { Logger } from '../observability/logger.ts';

/** Enabled tolerances: all that are not switched off. */
export type ToleranceSwitches = Readonly<Partial<Record<ToleranceName, boolean>>>;

/**
 * Maximum number of remembered pairs of client and tolerance, each of which is logged once; beyond it all are
 * forgotten.
 */
const maxRemembered = 10_000;

/** The tolerances of an installation. */
export interface Tolerances {
  isOn(name: ToleranceName): boolean;
  /**
   * Returns true if a quirk is let through at once, outside of a request to the authorization server; notes it in the
   * log.
   */
  tolerate(name: ToleranceName, because: string): boolean;
  /**
   * Logs that a quirk was let through: at `info` the first time for a client, at `debug` from then on.
   * @param clientId undefined if the client was not known yet
   */
  note(tolerated: Tolerated, clientId: string | undefined, requestId?: string): void;
}

/**
 * Creates the tolerances of an installation.
 * @param switches those that are switched off, or on
 */
export function createTolerances(switches: ToleranceSwitches, logger: Logger): Tolerances {
  const logged = new Set<string>();
  const isOn = (name: ToleranceName): boolean => switches[name] ?? true;
  const note: Tolerances['note'] = ({ tolerance, because }, clientId, requestId) => {
    const pair = `${tolerance} ${clientId ?? ''}`;
    const level = logged.has(pair) ? 'debug' : 'info';
    if (logged.size >= maxRemembered) logged.clear();
    logged.add(pair);
    logger[level](
      { tolerance, clientId: loggable(clientId), because: loggable(because), requestId },
      `quirk ${tolerance} tolerated`,
    );
  };
  return {
    isOn,
    note,
    tolerate(tolerance, because) {
      if (!isOn(tolerance)) return false;
      note({ tolerance, because }, undefined);
      return true;
    },
  };
}

/** A tolerance that was applied to a request, and the detail of the request that needed it. */
export interface Tolerated {
  tolerance: ToleranceName;
  because: string;
}

interface Indulgence {
  isOn: (name: ToleranceName) => boolean;
  tolerated: Tolerated[];
}

const current = new AsyncLocalStorage<Indulgence>();

/**
 * Decides whether a deviation is tolerated, and records it. Called only if the strict rule would reject the request.
 * Outside of a request nothing is switched off.
 * @param because what the client did, without a secret in it
 * @returns whether the request may go on
 */
export function tolerate(tolerance: ToleranceName, because: string): boolean {
  const indulgence = current.getStore();
  if (!indulgence) return true;
  if (!indulgence.isOn(tolerance)) return false;
  if (!indulgence.tolerated.some((known) => known.tolerance === tolerance))
    indulgence.tolerated.push({ tolerance, because });
  return true;
}

/**
 * Runs a request with the installation's tolerances.
 * @param isOn which are switched on
 * @param serve the request
 * @returns what it was let through with, each tolerance once
 */
export async function serveTolerantly(
  isOn: (name: ToleranceName) => boolean,
  serve: () => Promise<void>,
): Promise<readonly Tolerated[]> {
  const tolerated: Tolerated[] = [];
  await current.run({ isOn, tolerated }, serve);
  return tolerated;
}

/** The client of a request: as the engine knows it, else as the request says. */
function clientOf(ctx: Context): string | undefined {
  const known = (ctx as Partial<KoaContextWithOIDC>).oidc?.entities.Client?.clientId;
  const said = ctx.query.client_id;
  return known ?? (typeof said === 'string' ? said : undefined);
}

/**
 * Serves a request under the tolerances of the installation, and says in the log what it was let through with. One that
 * was refused all the same is not logged: anybody can send those, under any client id.
 * @param serve the request
 */
export async function noteTolerated(
  ctx: Context,
  tolerances: Tolerances,
  serve: () => Promise<void>,
): Promise<void> {
  const tolerated = await serveTolerantly(tolerances.isOn, serve);
  if (ctx.status >= 400) return;
  for (const each of tolerated) tolerances.note(each, clientOf(ctx), ctx.state.requestId);
}

/** Returns a redirect URI on `localhost` without its port; undefined for any other. */
function withoutLocalhostPort(uri: string): string | undefined {
  const url = URL.parse(uri);
  if (url?.hostname !== 'localhost') return undefined;
  url.port = '';
  return url.href;
}

/**
 * Makes the engine accept another port of `localhost` only with the tolerance for it. For `127.0.0.1` and `[::1]`, any
 * port is valid (RFC 8252 section 7.3). `localhost` is a name, to which this does not apply (section 8.3). The engine's
 * documentation names this method for rules of this kind (recipe "Redirect URI wildcards").
 * @param provider the engine
 */
export function compareLocalhostPorts(provider: Provider): void {
  const { prototype } = provider.Client;
  const { redirectUriAllowed: takesRedirect } = prototype;
  prototype.redirectUriAllowed = function takesRedirectUri(this: typeof prototype, uri: string): boolean {
    if (!takesRedirect.call(this, uri)) return false;
    if (this.redirectUris?.includes(uri) || withoutLocalhostPort(uri) === undefined) return true;
    return tolerate('localhostPort', `redirect_uri at ${new URL(uri).host}`);
  };
}
