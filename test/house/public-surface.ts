/** Every name the package gives its users, types included, by entry file. Adding one is a decision. */
export const publicSurface: Readonly<Record<string, readonly string[]>> = {
  'src/index.ts': [
    'AdministrationRefused',
    'AuthInfo',
    'Gatehouse',
    'GatehouseOptions',
    'ProtectedServer',
    'SettingsRefused',
    'createAdministration',
    'createGatehouse',
  ],
};
