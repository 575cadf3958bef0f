import type { Settings } from '../options.ts';

/** What stands in the place of a secret. */
const hidden = '(set)';

/** Settings as they may be shown: whether a secret is set, and not the secret (T-194). */
export function showSettings(settings: Settings): Settings {
  const upstreams = Object.entries(settings.upstreams).map(([name, upstream]) => [
    name,
    upstream.clientSecret === undefined ? upstream : { ...upstream, clientSecret: hidden },
  ]);
  return { ...settings, upstreams: Object.fromEntries(upstreams) };
}
