/** What the engine's own grants are made with, for grants of ours (lib/helpers/grants.js of oidc-provider 9.13). */
declare module 'oidc-provider/lib/helpers/grants.js' {
  import type { KoaContextWithOIDC, Provider, ResourceServerInstance } from 'oidc-provider';

  interface DpopProof {
    thumbprint: string;
    jti: string;
    iat: number;
  }

  /** Verifies the proof of the request; undefined where it has none. */
  export function validateDpop(provider: Provider, ctx: KoaContextWithOIDC): Promise<DpopProof | undefined>;
  /** Uses the proof up. */
  export function checkDpopReplay(
    provider: Provider,
    ctx: KoaContextWithOIDC,
    proof: DpopProof,
    clientId: string,
  ): Promise<void>;
  /** Gives the resources that `params.resource` of the request names. */
  export function resolveRequestedResources(
    provider: Provider,
    ctx: KoaContextWithOIDC,
  ): Promise<ResourceServerInstance[]>;
}

/** What the engine knows about itself (lib/helpers/weak_cache.js of oidc-provider 9.13). */
declare module 'oidc-provider/lib/helpers/weak_cache.js' {
  import type { Provider } from 'oidc-provider';

  /** Gives the configuration of an engine, as it works with it. */
  export default function instance(provider: Provider): { configuration: { scopes: Set<string> } };
}

/** The request that the engine is serving, which is its `Provider.ctx` (lib/helpers/als.js of oidc-provider 9.13). */
declare module 'oidc-provider/lib/helpers/als.js' {
  import type { AsyncLocalStorage } from 'node:async_hooks';
  import type { Context } from 'koa';

  const served: AsyncLocalStorage<Context>;
  export default served;
}
