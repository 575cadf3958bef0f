import type { UpstreamPresetName, UpstreamSettings } from '../upstream-settings.ts';
import { entra } from './entra.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import { google } from './google.ts';
import { keycloak } from './keycloak.ts';
import { okta } from './okta.ts';
import type { UpstreamPreset } from './preset.ts';
import { slack } from './slack.ts';

const presets: Readonly<Record<UpstreamPresetName, UpstreamPreset>> = {
  google,
  github,
  entra,
  okta,
  keycloak,
  gitlab,
  slack,
};

/** What is asked for at an OpenID provider of which nothing more is known. */
const openIdScopes = ['openid', 'profile', 'email'];

/**
 * Gives the preset an upstream has, and its settings with what the preset fills in. An issuer that the operator set stands
 * in the place of all endpoints of the preset.
 */
export function withPreset(
  name: string,
  settings: UpstreamSettings,
): { preset: UpstreamPreset; settings: UpstreamSettings } {
  const scopesOfStandard = settings.issuer === undefined ? [] : openIdScopes;
  const preset =
    settings.preset === undefined
      ? { label: name, defaults: { scopes: scopesOfStandard } }
      : presets[settings.preset];
  const { scopes, authorizationParameters, ...addresses } = preset.defaults;
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  return {
    preset,
    settings: {
      ...(settings.issuer === undefined ? addresses : {}),
      scopes,
      ...(given as unknown as UpstreamSettings),
      authorizationParameters: { ...authorizationParameters, ...settings.authorizationParameters },
    },
  };
}
