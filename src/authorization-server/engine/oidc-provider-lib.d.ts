/**
 * Functions that the engine's own grants are built with (lib/helpers/grants.js of oidc-provider 9.13), used by
 * Gatehouse's grants.
 */
declare module 'oidc-provider/lib/helpers/grants.js' {
  import type { KoaContextWithOIDC, Provider, ResourceServerInstance } from 'oidc-provider';

  interface DpopProof {
    thumbprint: string;
    jti: string;
    iat: number;
  }

  /** Verifies the DPoP proof of the request; undefined if the request has none. */
  export function validateDpop(provider: Provider, ctx: KoaContextWithOIDC): Promise<DpopProof | undefined>;
  /** Rejects a proof that was used before, and remembers this one. */
  export function checkDpopReplay(
    provider: Provider,
    ctx: KoaContextWithOIDC,
    proof: DpopProof,
    clientId: string,
  ): Promise<void>;
  /** Returns the resources that `params.resource` of the request names. */
  export function resolveRequestedResources(
    provider: Provider,
    ctx: KoaContextWithOIDC,
  ): Promise<ResourceServerInstance[]>;
}

/** The engine's internal state by provider (lib/helpers/weak_cache.js of oidc-provider 9.13). */
declare module 'oidc-provider/lib/helpers/weak_cache.js' {
  import type { Provider } from 'oidc-provider';

  /** Returns the configuration of an engine as the engine uses it. */
  export default function instance(provider: Provider): { configuration: { scopes: Set<string> } };
}
