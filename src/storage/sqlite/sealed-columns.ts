import { credentialContext } from '../backend-credentials.ts';

/** A column that holds something sealed. */
export interface SealedColumn {
  table: string;
  column: string;
  /** Whether it is base64url in text, as what goes through other hands, or bytes. */
  form: 'bytes' | 'text';
  /** Columns that name a row, in the order of an index. */
  key: readonly string[];
  /** What of a row its context is made of, as SQL. */
  parts: readonly string[];
  context: (...parts: string[]) => string;
}

const named = (kind: string) => (id?: string) => `${kind}:${id}`;

/** Every sealed column of the schema, with the context it is sealed for. */
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
  // After the links: tokens move from there to here.
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
