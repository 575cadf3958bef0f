import { describe, expect, it } from 'vitest';
import { toLink } from '../../../../src/storage/sqlite/stores/upstream-endings.ts';
import { describeUpstreamChanges, describeUpstreamEndings } from '../../contract/upstream-endings.ts';
import { openNewDatabase } from '../subject.ts';

describe('SQLite', () => describeUpstreamEndings(openNewDatabase));

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
    wantedScopes: '',
    linkedAt: 5,
  };
  expect(toLink({ ...row, kept: 0, tokens: null, expiresAt: null, unreachableSince: null })).toStrictEqual({
    ...row,
    kept: false,
  });
  const tokens = Buffer.from('t');
  expect(toLink({ ...row, kept: 1, tokens, expiresAt: 6, unreachableSince: 0 })).toStrictEqual({
    ...row,
    kept: true,
    tokens,
    expiresAt: 6,
    unreachableSince: 0,
  });
});

describe('SQLite', () => describeUpstreamChanges(openNewDatabase));
