/** A room of the house: which files stand in it and what they may import. */
export interface Room {
  /** The folder below `src`, or the file for a room of one file. The longest match decides. */
  name: string;
  /** Rooms it may import; its own files always. */
  may: readonly string[];
  /** Rooms of which it may import types only. */
  mayTypesOf?: readonly string[];
  /** Files below `src` that other rooms may import, but for rooms within it; default: each, for rooms of small independent files. */
  doors?: readonly string[];
  /** Packages it never imports, types included; `node:*` stands for all of Node's modules. */
  neverPackages?: readonly string[];
  /** Files with a wider rule than their room. */
  except?: readonly { file: string; may?: readonly string[]; packages?: readonly string[]; reason: string }[];
}

/** Packages with native code or a database behind them. */
export const nativePackages = ['better-sqlite3', '@node-rs/argon2', 'pg'] as const;

const web = ['koa', 'koa-compose', 'koa-mount'];
const engine = 'oidc-provider';
const doors = ['authorization-server', 'resource-server', 'mcp', 'gateway'];

/** Who may import whom: one row a room. */
export const rooms: readonly Room[] = [
  { name: 'oauth', may: [], neverPackages: ['node:*', ...web, engine, ...nativePackages] },
  { name: 'crypto', may: ['collections'], neverPackages: [...web, engine] },
  { name: 'net', may: ['collections'], neverPackages: [...web, engine, ...nativePackages] },
  { name: 'collections', may: [], neverPackages: ['node:*', ...web, engine, ...nativePackages] },
  { name: 'net/write-batcher.ts', may: [], neverPackages: [...web, engine, ...nativePackages] },
  { name: 'observability', may: [], neverPackages: [...web, engine, ...nativePackages] },
  {
    name: 'storage',
    may: [],
    neverPackages: [...web, engine, ...nativePackages],
  },
  {
    name: 'storage/sqlite',
    doors: [
      'storage/sqlite/index.ts',
      'storage/sqlite/connection/exclusive-lock.ts',
      'storage/sqlite/data-folder/data-folder.ts',
      'storage/sqlite/data-folder/read-only.ts',
    ],
    may: ['storage', 'crypto', 'collections', 'package-files.ts'],
    neverPackages: [...web, engine, 'pg', '@node-rs/argon2'],
  },
  {
    name: 'storage/postgres',
    doors: ['storage/postgres/index.ts'],
    may: ['storage', 'crypto', 'collections', 'package-files.ts'],
    neverPackages: [...web, engine, 'better-sqlite3', '@node-rs/argon2'],
  },
  {
    name: 'cluster',
    doors: ['cluster/bus.ts', 'cluster/forwarding.ts', 'cluster/node.ts', 'cluster/relays.ts'],
    may: ['collections', 'crypto', 'storage', 'observability'],
    mayTypesOf: ['gateway', 'mcp'],
    neverPackages: [...web, engine, ...nativePackages],
  },
  {
    name: 'ledger',
    doors: ['ledger/index.ts'],
    may: ['collections', 'crypto', 'observability'],
    mayTypesOf: ['mcp', 'storage'],
    neverPackages: [...web, engine, ...nativePackages],
  },
  {
    name: 'telemetry',
    doors: ['telemetry/log-export.ts', 'telemetry/metric-export.ts', 'telemetry/tracing.ts'],
    may: ['collections', 'observability'],
    mayTypesOf: ['gateway', 'mcp'],
    neverPackages: [...web, engine, ...nativePackages],
  },
  {
    name: 'client',
    doors: [
      'client/index.ts',
      'client/building-blocks.ts',
      'client/quote.ts',
      'client/url-policy.ts',
      'client/client-key.ts',
      'client/transports/exact-numbers.ts',
      'client/transports/param-headers.ts',
      'client/transports/session-memory.ts',
    ],
    may: ['oauth', 'collections'],
    neverPackages: ['node:*', ...web, engine, ...nativePackages],
  },
  {
    name: 'client/node',
    doors: ['client/node/index.ts', 'client/node/building-blocks.ts', 'client/node/home.ts'],
    may: ['oauth', 'client', 'collections'],
    neverPackages: [...web, engine, ...nativePackages],
  },
  {
    name: 'doctor',
    doors: ['doctor/index.ts'],
    may: ['oauth', 'client', 'client/node', 'doctor/machine/hosts/json-with-comments.ts'],
    neverPackages: [...web, engine, ...nativePackages],
  },
  {
    name: 'doctor/machine/hosts/json-with-comments.ts',
    may: [],
    neverPackages: ['node:*', ...web, engine, ...nativePackages],
  },
  {
    name: 'upstream',
    doors: ['upstream/index.ts', 'upstream/upstream.ts', 'upstream/vault.ts'],
    may: ['oauth', 'client', 'crypto', 'net', 'storage', 'observability'],
    neverPackages: [...web, engine, ...nativePackages],
  },
  { name: 'upstream/open-to-others.ts', may: [], neverPackages: [...web, engine, ...nativePackages] },
  {
    name: 'upstream/examination',
    may: ['upstream', 'upstream/open-to-others.ts'],
    neverPackages: [...web, engine, ...nativePackages],
  },
  {
    name: 'authorization-server',
    doors: ['authorization-server/index.ts'],
    may: [
      'oauth',
      'collections',
      'crypto',
      'net',
      'storage',
      'observability',
      'authorization-server/administration',
    ],
    mayTypesOf: ['upstream'],
    neverPackages: nativePackages,
  },
  {
    name: 'authorization-server/administration',
    doors: [
      'authorization-server/administration/administration.ts',
      'authorization-server/administration/administration-refused.ts',
      'authorization-server/administration/unusable-clients.ts',
    ],
    may: ['authorization-server', 'cluster', 'oauth', 'crypto', 'storage'],
    neverPackages: [...web, engine, ...nativePackages],
  },
  {
    name: 'resource-server',
    doors: ['resource-server/index.ts'],
    may: ['oauth', 'collections', 'net/write-batcher.ts', 'observability'],
    neverPackages: [...web, engine, ...nativePackages],
    except: [{ file: 'resource-server/require-bearer.ts', packages: web, reason: 'it is the Koa face' }],
  },
  {
    name: 'mcp',
    may: ['oauth', 'collections', 'net/write-batcher.ts', 'observability'],
    mayTypesOf: ['storage'],
    doors: [
      'mcp/index.ts',
      'mcp/protocol.ts',
      'mcp/building-blocks.ts',
      'mcp/notes/server.ts',
      'mcp/stdio/endpoint.ts',
    ],
    neverPackages: ['jose', ...web, engine, ...nativePackages],
    except: [{ file: 'mcp/endpoint.ts', packages: web, reason: 'it is the Koa face' }],
  },
  {
    name: 'gateway',
    doors: ['gateway/index.ts'],
    may: [
      'mcp',
      'oauth',
      'client',
      'collections',
      'net',
      'net/write-batcher.ts',
      'observability',
      'gateway/aggregate/final-names.ts',
    ],
    neverPackages: [engine, ...nativePackages],
  },
  {
    name: 'gateway/aggregate/final-names.ts',
    may: [],
    neverPackages: ['node:*', ...web, engine, ...nativePackages],
  },
  {
    name: 'app',
    may: ['oauth', 'storage', 'net/write-batcher.ts', 'observability'],
    neverPackages: [engine, ...nativePackages],
  },
  { name: 'storage/copy.ts', may: ['storage', 'crypto'], neverPackages: [...web, engine, ...nativePackages] },
  {
    name: 'options.ts',
    may: ['oauth', 'settings'],
    neverPackages: nativePackages,
  },
  {
    name: 'settings',
    may: ['oauth', 'observability', 'gateway/aggregate/final-names.ts'],
    neverPackages: [...web, engine, ...nativePackages],
  },
  { name: 'package-files.ts', may: [], neverPackages: [...web, engine, ...nativePackages] },
  {
    name: 'settings-advice.ts',
    may: ['options.ts', 'oauth', 'settings', 'upstream/open-to-others.ts'],
    neverPackages: [...web, engine, ...nativePackages],
  },
  {
    name: 'protected-server.ts',
    may: ['mcp', 'oauth', 'settings'],
    neverPackages: [...web, engine, ...nativePackages],
  },
  { name: 'notes-server.ts', may: ['mcp', 'protected-server.ts', 'storage'], neverPackages: nativePackages },
  {
    name: 'local-gatehouse.ts',
    may: [
      'app',
      'mcp',
      'notes-server.ts',
      'observability',
      'options.ts',
      'protected-server.ts',
      'settings',
      'storage',
    ],
    neverPackages: [...web, engine, ...nativePackages],
  },
  {
    name: 'composition',
    may: [
      'collections',
      'oauth',
      'crypto',
      'net',
      'observability',
      'storage',
      'upstream',
      'app',
      'cluster',
      'ledger',
      'telemetry',
      ...doors,
      'options.ts',
      'settings',
      'protected-server.ts',
      'settings-advice.ts',
    ],
    neverPackages: nativePackages,
  },
  {
    name: 'gatehouse-interface.ts',
    may: ['options.ts', 'settings', 'protected-server.ts'],
    mayTypesOf: ['cluster', 'composition', 'crypto', 'observability', 'storage'],
    neverPackages: [engine, ...nativePackages],
  },
  {
    name: 'gatehouse.ts',
    may: [
      'collections',
      'crypto',
      'observability',
      'app',
      'authorization-server',
      'resource-server',
      'composition',
      'gatehouse-interface.ts',
      'options.ts',
      'settings',
      'settings-advice.ts',
      'package-files.ts',
      'notes-server.ts',
    ],
    neverPackages: nativePackages,
  },
  {
    name: 'index.ts',
    may: [
      'gatehouse.ts',
      'gatehouse-interface.ts',
      'local-gatehouse.ts',
      'settings',
      'protected-server.ts',
      'oauth',
      'observability',
      'authorization-server',
      'mcp',
    ],
    neverPackages: nativePackages,
  },
  {
    name: 'config',
    may: ['options.ts', 'settings'],
    neverPackages: [...web, engine, ...nativePackages],
  },
  {
    name: 'composition/settings-check.ts',
    may: [
      'authorization-server/administration',
      'composition',
      'observability',
      'options.ts',
      'protected-server.ts',
      'settings',
    ],
    neverPackages: [...web, engine, ...nativePackages],
  },
  {
    name: 'cli',
    may: [
      'index.ts',
      'config',
      'settings-advice.ts',
      'package-files.ts',
      'storage',
      'storage/postgres',
      'storage/sqlite',
      'collections',
      'client',
      'client/node',
      'doctor',
      'doctor/machine/hosts/json-with-comments.ts',
      'observability',
      'upstream/examination',
      'composition/settings-check.ts',
      'authorization-server/administration',
      'settings',
      'storage/copy.ts',
    ],
    neverPackages: [engine, ...nativePackages],
  },
];
