import type { Upstreams } from '../../upstream/upstream.ts';
import type { Vault } from '../../upstream/vault.ts';

/** The upstreams of an installation, and the store of their tokens. */
export interface UpstreamParts {
  upstreams: Upstreams;
  vault: Vault;
}

function nothingIsKept(): never {
  throw new TypeError('there is no upstream whose tokens could be kept');
}

/** No upstream at all: everybody logs in here. */
export const noUpstreams: UpstreamParts = {
  upstreams: { all: [], find: () => undefined },
  vault: {
    changesOfLogin: nothingIsKept,
    open: nothingIsKept,
    profileOf: nothingIsKept,
    sealTokens: nothingIsKept,
    openTokens: nothingIsKept,
  },
};
