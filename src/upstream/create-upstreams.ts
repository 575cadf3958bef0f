import { createOperatorFetch } from '../net/operator-fetch.ts';
import type { Slip } from '../oauth/foreign-json.ts';
import { createAsk } from './ask.ts';
import { type Environment, readCredentials } from './credentials.ts';
import { withPreset } from './presets/presets.ts';
import type { Upstream, Upstreams } from './upstream.ts';
import { createUpstreamClient } from './upstream-client.ts';
import type { UpstreamSettings } from './upstream-settings.ts';

/** What all upstreams of an installation have in common. */
export interface UpstreamsOptions {
  /** Where people reach this server; callbacks are below it. */
  publicUrl: string;
  /** Whether upstreams may be on this very machine, without https. */
  dangerouslyFromLoopback: boolean;
  /** Variables that settings may name for secrets. */
  environment: Environment;
  /** Epoch seconds. */
  now: () => number;
  /** Told of each slip of an upstream that was read all the same. */
  tolerated?: ((upstream: string, slip: Slip) => void) | undefined;
  /** How long one request to an upstream may take; ten seconds by default (T-084). */
  timeoutMs?: number;
  /** How soon a key set is fetched again for a key that is not in it; half a minute by default (T-086). */
  keyCooldownMs?: number;
}

/** Path of the callback of an upstream, of it alone (RFC 9700 section 4.4.2). */
export function upstreamCallbackPath(name: string): string {
  return `/upstream/${name}/callback`;
}

/**
 * Creates the clients of all upstreams. None of them is asked anything: one that is down, or wrong, is so when somebody
 * wants to log in there.
 * @returns them, and what is wrong with files and variables that settings name, each by its setting
 */
export async function createUpstreams(
  settings: Readonly<Record<string, UpstreamSettings>>,
  options: UpstreamsOptions,
): Promise<{ upstreams: Upstreams; problems: string[] }> {
  const {
    publicUrl,
    dangerouslyFromLoopback,
    environment,
    now,
    timeoutMs,
    keyCooldownMs = 30_000,
    tolerated,
  } = options;
  const all: Upstream[] = [];
  const problems: string[] = [];
  for (const [name, given] of Object.entries(settings)) {
    const credentials = await readCredentials(given, environment);
    if ('problem' in credentials) {
      problems.push(`upstreams.${name}.${credentials.problem}`);
      continue;
    }
    const { allowPrivateNetwork } = given;
    const limits = timeoutMs === undefined ? {} : { timeoutMs };
    const fetch = createOperatorFetch({ allowPrivateNetwork, dangerouslyFromLoopback, ...limits });
    all.push(
      createUpstreamClient({
        name,
        ...withPreset(name, given),
        identity: credentials.identity,
        callbackUrl: `${publicUrl}${upstreamCallbackPath(name)}`,
        ask: createAsk(name, fetch),
        dangerouslyFromLoopback,
        keyCooldownMs,
        now,
        tolerated: tolerated && ((slip) => tolerated(name, slip)),
      }),
    );
  }
  const byName = new Map(all.map((upstream) => [upstream.name, upstream]));
  return { upstreams: { all, find: (name) => byName.get(name) }, problems };
}
