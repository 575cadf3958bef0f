export { AdministrationRefused, createAdministration } from './administration.ts';
export type { Lifetimes } from './engine/configuration.ts';
export type { LoginLimits } from './login.ts';
export { buildFailurePage, buildHomePage } from './plain-pages.ts';
export type { ProtectedResource } from './resources.ts';
export {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  createAuthorizationServer,
} from './server.ts';
