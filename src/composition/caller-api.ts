import { createOperatorFetch } from '../net/operator-fetch.ts';
import type { UpstreamStore } from '../storage/upstreams.ts';
import type { LinkStatus } from '../upstream/links/link-status.ts';
import { type CallerApi, createCallerApi } from '../upstream/tools/caller-api.ts';
import { createCallerTokens } from '../upstream/tools/caller-tokens.ts';
import type { Upstreams } from '../upstream/upstream.ts';

/** What calls of tools to APIs of upstreams are made of. */
export interface CallerApiParts {
  upstreams: Upstreams;
  links: Pick<UpstreamStore, 'findOfAccount' | 'wantScopes'>;
  standing: Pick<LinkStatus, 'tokensOf'>;
  /** Whether APIs may be on this very machine, without https. */
  dangerouslyFromLoopback: boolean;
  issuer: string;
  /** Epoch seconds. */
  now: () => number;
}

/** Largest answer of an API, in bytes: tools get it whole. */
const maxBytes = 16 * 1024 * 1024;

/** How long one request to an API may take, in milliseconds. */
const timeoutMs = 30_000;

/** Composes what tools call APIs of upstreams with; undefined where there is no upstream. */
export function composeCallerApi(parts: CallerApiParts): CallerApi | undefined {
  const { upstreams, links, standing, dangerouslyFromLoopback, issuer, now } = parts;
  if (upstreams.all.length === 0) return undefined;
  return createCallerApi({
    upstreams,
    tokens: createCallerTokens({ links, standing, now }),
    fetchOf: ({ settings: { allowPrivateNetwork } }) =>
      createOperatorFetch({
        allowPrivateNetwork,
        dangerouslyFromLoopback,
        maxBytes,
        timeoutMs,
        redirects: 'given',
      }),
    dangerouslyFromLoopback,
    accountUrl: `${issuer}/account`,
  });
}
