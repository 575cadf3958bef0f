import { asText } from '../../oauth/foreign-json.ts';
import { knownProviders } from '../../oauth/issuer.ts';
import type { UpstreamPreset } from './preset.ts';

/** Tenants that stand for many: tokens name the one they are from. */
const sharedTenants = /\/(?:common|organizations|consumers)\/v2\.0$/;

/**
 * Microsoft Entra ID, v2.0 endpoints. The metadata of a shared tenant (`common`) has an issuer with `{tenantid}` in the
 * place of the tenant; `resource` is refused, so none is sent; `email` is what an administrator of any tenant wrote, and
 * verified only where the optional claim `xms_edov` says so. Groups that are too many for a token are left out of it
 * (`_claim_names`): a rule about groups then lets nobody in. Tokens are not revoked but end.
 * `auth_time` is an optional claim as well.
 * @see https://learn.microsoft.com/en-us/entra/identity-platform/v2-protocols-oidc
 */
export const entra: UpstreamPreset = {
  label: 'Microsoft',
  defaults: { scopes: ['openid', 'profile', 'email', 'offline_access'] },
  endpointHosts: knownProviders.entra.endpointHosts,
  metadataIssuerOf: (issuer) => issuer.replace(sharedTenants, '/{tenantid}/v2.0'),
  issuerOf(metadataIssuer, { tid }) {
    if (!metadataIssuer.includes('{tenantid}')) return metadataIssuer;
    const tenant = asText(tid);
    return tenant !== undefined && /^[0-9a-f-]{36}$/.test(tenant)
      ? metadataIssuer.replace('{tenantid}', tenant)
      : undefined;
  },
  isEmailVerified: ({ xms_edov: verified }) => verified === true || verified === 1 || verified === '1',
  skipsUserInfo: true,
  mayLackAuthTime: true,
};
