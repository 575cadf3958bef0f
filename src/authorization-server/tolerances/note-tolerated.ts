import type { Context } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Tolerances } from './tolerances.ts';
import { serveTolerantly } from './tolerate.ts';

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
