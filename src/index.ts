export {
  AdministrationRefused,
  createAdministration,
} from './authorization-server/index.ts';
export { createGatehouse, type Gatehouse, type GatehouseOptions } from './gatehouse.ts';
export {
  type CallContext,
  callerOf,
  declareScopes,
  type McpLike,
  type OperationScopes,
  type ScopeRules,
  type ServerContext,
  type ServerFactory,
} from './mcp/index.ts';
export type { AuthInfo } from './oauth/auth-info.ts';
export { SettingsRefused } from './options.ts';
export type { OwnServer, ProtectedServer } from './protected-server.ts';
