import type { Settings } from '../options.ts';
import type { BackendSettings } from '../settings/routes.ts';

/** What stands in the place of a secret. */
const hidden = '(set)';

/** Settings as they may be shown: whether a secret is set, and not the secret (T-194). */
export function showSettings(settings: Settings): Settings {
  const upstreams = Object.entries(settings.upstreams).map(([name, upstream]) => [
    name,
    typeof upstream.clientSecret === 'string' ? { ...upstream, clientSecret: hidden } : upstream,
  ]);
  const routes = Object.entries(settings.routes).map(([name, route]) => [
    name,
    {
      ...route,
      ...(route.backend && { backend: withoutValues(route.backend) }),
      ...(route.backends && { backends: withoutValuesOf(route.backends) }),
    },
  ]);
  return { ...settings, upstreams: Object.fromEntries(upstreams), routes: Object.fromEntries(routes) };
}

function withoutValuesOf(backends: Record<string, BackendSettings>): Record<string, BackendSettings> {
  return Object.fromEntries(Object.entries(backends).map(([key, backend]) => [key, withoutValues(backend)]));
}

function withoutValues(backend: BackendSettings): BackendSettings {
  if ('url' in backend) return { ...backend, headers: hideTexts(backend.headers) };
  return Array.isArray(backend.env) ? backend : { ...backend, env: hideTexts(backend.env) };
}

/** Hides values; where one is only said to stand somewhere, that is shown. */
function hideTexts<Values extends Record<string, unknown>>(values: Values): Values {
  const shown = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? hidden : value,
  ]);
  return Object.fromEntries(shown) as Values;
}
