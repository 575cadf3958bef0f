import { createUpstreams, upstreamCallbackPath } from '../create-upstreams.ts';
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
 * @param now the clock, epoch seconds
 * @returns what keeps the server from starting, such as a file of a secret that cannot be read; none where all is well
 */
export async function findUnusable(
  { upstreams, publicUrl, dangerouslyFromLoopback }: Configured,
  now: () => number,
): Promise<readonly string[]> {
  const created = await createUpstreams(upstreams, { publicUrl, dangerouslyFromLoopback, now });
  return [...created.problems, ...findSharedIssuers(created.upstreams.all)];
}

/**
 * Examines one upstream of a config file, its files of secrets included.
 * @param surroundings what asks its authorization endpoint as a browser would, and the clock, epoch seconds
 * @returns undefined where there is none of this name
 */
export async function examineConfigured(
  { upstreams, publicUrl, dangerouslyFromLoopback }: Configured,
  name: string,
  { fetch, now }: { fetch: BrowserFetch; now: () => number },
): Promise<UpstreamReport | undefined> {
  const given = Object.hasOwn(upstreams, name) ? upstreams[name] : undefined;
  if (!given) return undefined;
  const created = await createUpstreams({ [name]: given }, { publicUrl, dangerouslyFromLoopback, now });
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
        'Put what the upstream gave for this client into that file, and let only the user of the server read it.',
      ),
    ),
  };
}
