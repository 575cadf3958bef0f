export type { CredentialForms, RouteForms } from './account/credentials-page.ts';
export { createAdministration } from './administration/administration.ts';
export { AdministrationRefused } from './administration/administration-refused.ts';
export { type AuditTrail, createAuditTrail } from './audit.ts';
export type { LinkStanding } from './bonds/link-standing.ts';
export type { TakeLogoutToken } from './bonds/logout-endpoint.ts';
export { createPrincipalLimit, createToolCallLimits } from './endpoint-limits/principal-limit.ts';
export type { Lifetimes } from './engine/configuration.ts';
export { createSealAnew, keyTimes, startKeyCare } from './keys/key-care.ts';
export { createLimiters } from './limiters.ts';
export type { Limiters } from './limits.ts';
export type { LoginLimits } from './login.ts';
export {
  keepSettingsClients,
  readSettingsClients,
} from './operator-clients/settings-clients.ts';
export type { ProtectedResource } from './resources.ts';
export {
  type AuthorizationServer,
  createAuthorizationServer,
} from './server.ts';
export type { AuthorizationServerOptions } from './server-options.ts';
export { createTolerances } from './tolerances.ts';
export { checkExchangeRules, checkTrustedIssuers } from './trusted-issuers/check-issuers.ts';
export type { TrustedIssuer } from './trusted-issuers/trusted-issuer.ts';
export { buildFailurePage, buildHomePage } from './views/home.ts';
