/** Every name the package gives its users, types included, by entry file. Adding one is a decision. */
export const publicSurface: Readonly<Record<string, readonly string[]>> = {
  'src/index.ts': [
    'AdministrationRefused',
    'AuthInfo',
    'CallContext',
    'Gatehouse',
    'GatehouseOptions',
    'McpLike',
    'OperationScopes',
    'OwnServer',
    'ProtectedServer',
    'ScopeRules',
    'ServerContext',
    'ServerFactory',
    'SettingsRefused',
    'callerOf',
    'createAdministration',
    'createGatehouse',
    'declareScopes',
  ],
};
