import { paths } from '../app/paths.ts';
import type { ProtectedResource } from '../authorization-server/index.ts';
import type { Settings } from '../options.ts';
import type { NormalizedServer } from '../protected-server.ts';
import { completeResources, findOwnResources } from '../settings/resources.ts';
import { SettingsRefused } from '../settings/settings-refused.ts';

/** What a family of transports is served as: a protected resource with a URL of its own. */
export type OwnResource = 'mcp' | 'sse' | 'rest';

/** The identifiers of the protected resources that are served here (RFC 8707 section 2). */
export function ownResources(issuer: string): Record<OwnResource, string> {
  return { mcp: `${issuer}${paths.mcp}`, sse: `${issuer}${paths.sse}`, rest: `${issuer}${paths.rest}` };
}

/**
 * All protected resources tokens are issued for: first those served here, then those that live elsewhere.
 * @param own identifiers of those served here
 * @param server what is served there
 * @throws SettingsRefused where one that is served here was set as living elsewhere
 */
export function composeResources(
  { resources, tokens }: Pick<Settings, 'resources' | 'tokens'>,
  own: readonly string[],
  { name, scopes, baselineScopes }: NormalizedServer,
): ProtectedResource[] {
  const misplaced = findOwnResources(resources, own);
  if (misplaced.length > 0) throw new SettingsRefused(misplaced);
  const ofServer = {
    name,
    scopes,
    baselineScopes,
    dpopRequired: tokens.dpop.required,
    accessTokenFormat: tokens.format,
  };
  return [...own.map((resource) => ({ resource, ...ofServer })), ...completeResources(resources)];
}
