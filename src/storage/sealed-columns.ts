import { credentialContext } from './backends.ts';

/** A column with sealed values. */
export interface SealedColumn {
  table: string;
  column: string;
  /** `text` for base64url, `bytes` for a blob. */
  form: 'bytes' | 'text';
  /** Columns that identify a row, in the order of an index. */
  key: readonly string[];
  /** Parts of the sealing context, as SQL of either database. */
  parts: readonly string[];
  context: (...parts: string[]) => string;
}

const named = (kind: string) => (id?: string) => `${kind}:${id}`;

/** All sealed columns of the schema, with their contexts. */
export const sealedColumns: readonly SealedColumn[] = [
  {
    table: 'installation',
    column: 'canary',
    form: 'bytes',
    key: ['id'],
    parts: ['id'],
    context: named('Installation'),
  },
  {
    table: 'clients',
    column: 'payload',
    form: 'bytes',
    key: ['id'],
    parts: ['id'],
    context: named('Client'),
  },
  { table: 'grants', column: 'payload', form: 'bytes', key: ['id'], parts: ['id'], context: named('Grant') },
  {
    table: 'artifacts',
    column: 'payload',
    form: 'bytes',
    key: ['id', 'kind'],
    parts: ['kind', 'id'],
    context: (kind, id) => `${kind}:${id}`,
  },
  {
    table: 'client_documents',
    column: 'payload',
    form: 'bytes',
    key: ['url'],
    parts: ['url'],
    context: named('ClientDocument'),
  },
  {
    table: 'one_time_codes',
    column: 'secret',
    form: 'bytes',
    key: ['account_id'],
    parts: ['account_id'],
    context: named('OneTimeCodes'),
  },
  {
    table: 'backend_credentials',
    column: 'value',
    form: 'bytes',
    key: ['account_id', 'route', 'name'],
    parts: ['account_id', 'route', 'name'],
    context: (accountId = '', route = '', name = '') => credentialContext(accountId, route, name),
  },
  {
    table: 'upstream_links',
    column: 'profile',
    form: 'bytes',
    key: ['id'],
    parts: ['id'],
    context: named('UpstreamProfile'),
  },
  {
    table: 'upstream_links',
    column: 'tokens',
    form: 'bytes',
    key: ['id'],
    parts: ['id'],
    context: named('UpstreamTokens'),
  },
  // After the links: tokens move from the links to this table.
  {
    table: 'upstream_revocations',
    column: 'tokens',
    form: 'bytes',
    key: ['id'],
    parts: ['link_id'],
    context: named('UpstreamTokens'),
  },
  {
    table: 'mcp_sessions',
    column: 'initialize',
    form: 'text',
    key: ['id'],
    parts: ['key'],
    context: (key) => JSON.stringify(['initialize', key]),
  },
  {
    table: 'mcp_events',
    column: 'data',
    form: 'text',
    key: ['id'],
    parts: [
      '(SELECT key FROM mcp_sessions WHERE id = mcp_events.session_id)',
      '(SELECT name FROM mcp_streams WHERE id = mcp_events.stream_id)',
      'position',
    ],
    context: (key, stream, position) => JSON.stringify(['event', key, stream, Number(position)]),
  },
];
