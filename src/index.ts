export {
  AdministrationRefused,
  createAdministration,
} from './authorization-server/index.ts';
export { createGatehouse, type Gatehouse, type GatehouseOptions, type ProtectedServer } from './gatehouse.ts';
export type { AuthInfo } from './oauth/auth-info.ts';
export { SettingsRefused } from './options.ts';
