export {
  AdministrationRefused,
  createAdministration,
} from './authorization-server/index.ts';
export { createGatehouse } from './gatehouse.ts';
export type {
  Gatehouse,
  GatehouseOptions,
  OtherReload,
  ReloadOutcome,
  RouteStatus,
  RoutesChange,
} from './gatehouse-interface.ts';
export { createLocalGatehouse, type LocalGatehouseOptions } from './local-gatehouse.ts';
export {
  type CallContext,
  type CallerUpstream,
  callerOf,
  createPaging,
  declareScopes,
  getAuthValue,
  getParamValue,
  type McpLike,
  type MetaCarrier,
  type OperationScopes,
  type Paging,
  type ProcessValues,
  RestServerTransport,
  type RestServerTransportOptions,
  type ScopeRules,
  type ServerContext,
  type ServerFactory,
  type UpstreamContext,
  UpstreamLinkNeeded,
  type UpstreamNeeds,
  upstream,
} from './mcp/index.ts';
export type { AuthInfo, CallerClient, CallerDetails, CallerIdentity } from './oauth/auth-info.ts';
export type { Logger } from './observability/logger.ts';
export type { OwnServer, ProtectedServer } from './protected-server.ts';
export { SettingsRefused } from './settings/issues.ts';
