import type { Context } from 'koa';
import mount from 'koa-mount';
import Provider, { type Configuration, type KoaContextWithOIDC } from 'oidc-provider';
import { pathOf } from '../../oauth/well-known.ts';
import type { Logger } from '../../observability/logger.ts';
import { StorageUnavailable } from '../../storage/storage.ts';

/** The engine, ready to be handed requests. */
export interface Engine {
  provider: Provider;
  /**
   * Hands a request to the engine under one of its own paths, below the issuer.
   * @throws StorageUnavailable where the database failed underneath it
   */
  serve(ctx: Context, path: string): Promise<void>;
}

/**
 * Creates the engine: oidc-provider, mounted at the path of the issuer. What it would keep to itself is taken from
 * its events: the error of an authorization request for the page that shows it, and a failing database, which it
 * would call a server error, for `app/errors` to answer.
 * @param issuer issuer identifier; `configuration` is for it
 */
export function createEngine(issuer: string, configuration: Configuration, logger: Logger): Engine {
  const provider = new Provider(issuer, configuration);
  provider.proxy = true;
  provider.on('authorization.error', (ctx: KoaContextWithOIDC, error) => {
    ctx.state.authorizationError = error;
  });
  provider.on('server_error', (ctx: KoaContextWithOIDC, error) => {
    ctx.state.engineFailure = error;
    const { requestId } = ctx.state;
    logger.error({ requestId, path: ctx.path, err: error }, 'the authorization server failed');
  });

  const base = pathOf(issuer);
  const mounted = mount(base || '/', provider);
  return {
    provider,
    async serve(ctx, path) {
      ctx.path = `${base}${path}`;
      await mounted(ctx as Parameters<typeof mounted>[0], async () => undefined);
      if (ctx.state.engineFailure instanceof StorageUnavailable) throw ctx.state.engineFailure;
    },
  };
}
