import {
  createUpstreams,
  type Environment,
  findSharedIssuers,
  upstreamCallbackPath,
} from '../create-upstreams.ts';
import { worldReadableMode } from '../open-to-others.ts';
import { withPreset } from '../presets.ts';
import type { UpstreamSettings } from '../upstream.ts';
import { type BrowserFetch, examineUpstream, type UpstreamReport } from './examine-upstream.ts';
import { broken, doubtful, sound, type UpstreamFinding } from './finding.ts';

/** An upstream of the settings. */
export interface ConfiguredUpstream {
  name: string;
  label: string;
  /** Absent for one without metadata. */
  issuer?: string;
  /** `linking` if it is not offered on the login page. */
  use: 'login' | 'linking';
  /** The redirect URI to register there. */
  callbackUrl: string;
}

/** The upstreams of a config file. */
export interface Configured {
  upstreams: Readonly<Record<string, UpstreamSettings>>;
  /** The public URL of the server. */
  publicUrl: string;
  /** True allows upstreams on this machine, without https. */
  dangerouslyFromLoopback: boolean;
}

/** The dependencies of an examination. */
interface Surroundings {
  /** Requests its authorization endpoint like a browser. */
  fetch: BrowserFetch;
  /** Epoch seconds. */
  now: () => number;
  /** Environment variables of the server. */
  env: Environment;
}

/** Lists the upstreams of the settings, without reading files or sending requests. */
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
 * Reads the files and environment variables of all upstreams, without sending requests.
 * @param surroundings the clock, epoch seconds, and the environment variables
 * @returns the problems that prevent a start of the server, such as an unreadable secret file
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
 * Examines one upstream of a config file, including its secret files.
 * @returns undefined if there is none of this name
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

/**
 * Checks if other users of the machine can read the file with the client's secret or key (T-163).
 * @param settings of one upstream, whose file was read before
 * @returns no finding if no file is configured
 */
export function checkSecretFile({
  clientSecretFile,
  clientKeyFile,
}: Pick<UpstreamSettings, 'clientSecretFile' | 'clientKeyFile'>): UpstreamFinding[] {
  const file = clientSecretFile ?? clientKeyFile;
  // Windows has no such permission bits.
  if (file === undefined || process.platform === 'win32') return [];
  const mode = worldReadableMode(file);
  return [
    mode === undefined
      ? sound('UP-SECRET', `${file} can be read, and not by others.`)
      : doubtful(
          'UP-SECRET',
          `${file} can be read by others (mode ${mode}).`,
          `chmod 600 ${JSON.stringify(file)}`,
        ),
  ];
}
