import { createUpstreams, upstreamCallbackPath } from '../create-upstreams.ts';
import type { Environment } from '../credentials.ts';
import { withPreset } from '../presets/presets.ts';
import { findSharedIssuers } from '../shared-issuers.ts';
import type { UpstreamSettings } from '../upstream-settings.ts';
import { type BrowserFetch, examineUpstream, type UpstreamReport } from './examine-upstream.ts';
import { broken } from './finding.ts';
import { checkSecretFile } from './secret-file-check.ts';

/** An upstream as the settings have it. */
export interface ConfiguredUpstream {
  name: string;
  label: string;
  /** Absent for one without metadata. */
  issuer?: string;
  /** Whether one can log in with it, or it is only for linking. */
  use: 'login' | 'linking';
  /** To be registered there. */
  callbackUrl: string;
}

/** Upstreams of a config file. */
export interface Configured {
  upstreams: Readonly<Record<string, UpstreamSettings>>;
  /** Where people reach the server. */
  publicUrl: string;
  /** Whether upstreams may be on this very machine, without https. */
  dangerouslyFromLoopback: boolean;
}

/** What an examination touches beside the upstream. */
interface Surroundings {
  /** Asks its authorization endpoint as a browser would. */
  fetch: BrowserFetch;
  /** Epoch seconds. */
  now: () => number;
  /** Variables of the environment, as the server is started with. */
  env: Environment;
}

/** Lists upstreams as they are configured; nothing is read or asked. */
export function listConfigured({ upstreams, publicUrl }: Pick<Configured, 'upstreams' | 'publicUrl'>) {
  return Object.entries(upstreams).map(([name, given]): ConfiguredUpstream => {
    const { settings, preset } = withPreset(name, given);
    return {
      name,
      label: settings.label ?? preset.label,
      ...(settings.issuer === undefined ? undefined : { issuer: settings.issuer }),
      use: settings.login ? 'login' : 'linking',
      callbackUrl: `${publicUrl}${upstreamCallbackPath(name)}`,
    };
  });
}

/**
 * Reads what the settings of all upstreams name, without asking any of them.
 * @param surroundings the clock, epoch seconds, and the variables of the environment
 * @returns what keeps the server from starting, such as a file of a secret that cannot be read; none where all is well
 */
export async function findUnusable(
  { upstreams, publicUrl, dangerouslyFromLoopback }: Configured,
  { now, env: environment }: Pick<Surroundings, 'now' | 'env'>,
): Promise<readonly string[]> {
  const created = await createUpstreams(upstreams, {
    publicUrl,
    dangerouslyFromLoopback,
    environment,
    now,
  });
  return [...created.problems, ...findSharedIssuers(created.upstreams.all)];
}

/**
 * Examines one upstream of a config file, its files of secrets included.
 * @returns undefined where there is none of this name
 */
export async function examineConfigured(
  { upstreams, publicUrl, dangerouslyFromLoopback }: Configured,
  name: string,
  { fetch, now, env: environment }: Surroundings,
): Promise<UpstreamReport | undefined> {
  const given = Object.hasOwn(upstreams, name) ? upstreams[name] : undefined;
  if (!given) return undefined;
  const created = await createUpstreams(
    { [name]: given },
    { publicUrl, dangerouslyFromLoopback, environment, now },
  );
  const logoutUrl = `${publicUrl}/upstream/${name}/backchannel-logout`;
  const upstream = created.upstreams.find(name);
  if (upstream) {
    const ofFile = checkSecretFile(given);
    const report = await examineUpstream({ upstream, logoutUrl, fetch, now });
    return { ...report, findings: [...ofFile, ...report.findings] };
  }
  return {
    upstream: name,
    callbackUrl: `${publicUrl}${upstreamCallbackPath(name)}`,
    logoutUrl,
    outcome: 'faults',
    findings: created.problems.map((problem) =>
      broken(
        'UP-SECRET',
        `${problem}.`,
        'Put what the upstream gave for this client there, and let only the user of the server read it.',
      ),
    ),
  };
}
