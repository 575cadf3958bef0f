/**
 * Flows that mean nothing on PostgreSQL, with the reason: `scripts/test --cluster` leaves them out. Folders end with `/`.
 */
const onlyOnSqlite: Readonly<Record<string, string>> = {
  'authorization/late-writes.test.ts': 'locks the file of the database, as another process does',
  'cluster/': 'starts nodes of its own; each run has it',
  'crash/': 'kills a process, and examines its SQLite file; cluster/kills.test.ts kills nodes',
  'faults/': 'damages the disk under the SQLite file',
  'keys/killed.test.ts': 'kills a process while it writes the key file, which PostgreSQL replaces',
  'proxies/': 'is about what stands before one gatehouse, whatever its storage',
};

const load =
  'counts load to the last request; over two nodes the bound is that of cluster/limits.test.ts, or each counts by itself';

/** Flows that mean nothing if two nodes share the requests, with the reason. */
const onlyOnOneNode: Readonly<Record<string, string>> = {
  'attacks/limits.test.ts': load,
  'authorization/mounted.test.ts': 'starts a server of its own on the database, which nodes rule out',
  'calls/metrics.test.ts': 'reads the counts of one node',
  'gateway/policy-cache.test.ts': 'each node has a cache of its own',
  'authorization/limits.test.ts': load,
  'limits/endpoints.test.ts': load,
  'limits/mcp-requests.test.ts': load,
  'limits/tokens.test.ts': load,
  'limits/tool-calls.test.ts': load,
  'registration/client-document-guards.test.ts': load,
  'registration/limits.test.ts': load,
  'token/guessing.test.ts': load,
};

/**
 * Returns patterns of the test files that a run leaves out.
 * @param storage that of `GATEHOUSE_TEST_STORAGE`
 */
export function filesLeftOut(storage: string | undefined): string[] {
  if (storage === undefined || storage === 'sqlite') return [];
  const leftOut = { ...onlyOnSqlite, ...(storage === 'cluster' ? onlyOnOneNode : {}) };
  return Object.keys(leftOut).map((name) => `test/flows/${name}${name.endsWith('/') ? '**' : ''}`);
}
