import type { Settings } from '../options.ts';
import { SettingsRefused } from '../settings/settings-refused.ts';
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
  /** Epoch seconds. */
  now: () => number;
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
  now,
}: UpstreamParts): Promise<Upstreams> {
  const misfits = checkUpstreams(settings.upstreams, resources);
  const { upstreams, problems } = await createUpstreams(settings.upstreams, {
    publicUrl,
    dangerouslyFromLoopback: settings.dangerously.upstreamsOverHttp,
    environment,
    now,
  });
  const wrong = [...misfits, ...problems, ...findSharedIssuers(upstreams.all)];
  if (wrong.length > 0) throw new SettingsRefused(wrong);
  return upstreams;
}
