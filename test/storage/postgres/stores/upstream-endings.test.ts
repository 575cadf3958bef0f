import { describe, expect, it } from 'vitest';
import { toLink } from '../../../../src/storage/postgres/stores/upstream-endings.ts';
import { describeUpstreamChanges, describeUpstreamEndings } from '../../contract/upstream-endings.ts';
import { openNewDatabase, usePostgres } from '../subject.ts';

const server = usePostgres();

describe('PostgreSQL', () => describeUpstreamEndings(() => openNewDatabase(server())));

it('a link has no member for what is not known of it', () => {
  const row = {
    id: 'l',
    accountId: 'ada',
    upstream: 'idp',
    issuer: 'https://idp.example',
    subject: '1',
    profile: Buffer.from('p'),
    generation: 1,
    provedAt: 5,
    kept: false,
    wantedScopes: '',
    linkedAt: 5,
  };
  expect(toLink({ ...row, tokens: null, expiresAt: null, unreachableSince: null })).toStrictEqual(row);
  const known = { ...row, tokens: Buffer.from('t'), expiresAt: 6, unreachableSince: 0 };
  expect(toLink(known)).toStrictEqual(known);
});

describe('PostgreSQL', () => describeUpstreamChanges(() => openNewDatabase(server())));
