import type { Slip } from '../oauth/foreign-json.ts';
import { type Logger, loggable } from '../observability/logger.ts';
import type { Settings } from '../options.ts';
import { SettingsRefused } from '../settings/issues.ts';
import { checkUpstreams, type KnownResource } from '../upstream/check-upstreams.ts';
import { createUpstreams } from '../upstream/create-upstreams.ts';
import { findSharedIssuers } from '../upstream/shared-issuers.ts';
import type { Upstreams } from '../upstream/upstream.ts';

/** What the upstreams of an installation are composed of. */
export interface UpstreamParts {
  settings: Pick<Settings, 'upstreams' | 'dangerously'>;
  /** Where people reach this server. */
  publicUrl: string;
  /** The resources there are. */
  resources: readonly KnownResource[];
  /** Variables of the environment that they may name for secrets. */
  environment: Readonly<Record<string, string | undefined>>;
  logger: Logger;
  /** Epoch seconds. */
  now: () => number;
}

/** Logs each slip of an upstream that was read all the same: at `info` the first time, at `debug` from then on. */
function logSlips(logger: Logger): (upstream: string, slip: Slip) => void {
  const logged = new Set<string>();
  return (upstream, { tolerance, because }) => {
    const level = logged.has(`${upstream} ${tolerance}`) ? 'debug' : 'info';
    logged.add(`${upstream} ${tolerance}`);
    logger[level]({ tolerance, upstream, because: loggable(because) }, `slip ${tolerance} tolerated`);
  };
}

/**
 * Composes the upstreams. None of them is asked anything yet.
 * @throws SettingsRefused where they do not fit the installation, or a file or variable they name cannot be read
 */
export async function composeUpstreams({
  settings,
  publicUrl,
  resources,
  environment,
  logger,
  now,
}: UpstreamParts): Promise<Upstreams> {
  const misfits = checkUpstreams(settings.upstreams, resources);
  const { upstreams, problems } = await createUpstreams(settings.upstreams, {
    publicUrl,
    dangerouslyFromLoopback: settings.dangerously.upstreamsOverHttp,
    environment,
    now,
    tolerated: logSlips(logger),
  });
  const wrong = [...misfits, ...problems, ...findSharedIssuers(upstreams.all)];
  if (wrong.length > 0) throw new SettingsRefused(wrong);
  return upstreams;
}
