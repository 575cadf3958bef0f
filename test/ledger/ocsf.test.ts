import { expect, it } from 'vitest';
import { callToOcsf, eventToOcsf } from '../../src/ledger/ocsf.ts';
import { recordedCall } from '../support/recorded-calls.ts';

it('A call is API Activity, with its account, client, operation and status', () => {
  const { arguments: _none, ...row } = recordedCall(1);
  const call = { ledger: 'l1', ...row };
  expect(callToOcsf({ ...call, seq: 7 }, '1.2.3')).toMatchObject({
    class_uid: 6003,
    category_uid: 6,
    type_uid: 600_399,
    status_id: 2,
    severity_id: 3,
    status_code: 'insufficient_scope',
    actor: { user: { uid: call.account }, app_uid: call.client },
    api: { operation: 'tools/call', request: { uid: call.requestId } },
    metadata: { uid: 'calls:l1:7', product: { name: 'Gatehouse', version: '1.2.3' } },
  });
  expect(callToOcsf({ ...call, seq: 8, outcome: 'ok', reason: null }, '1')).toMatchObject({ status_id: 1 });
});

it.each([
  [
    'login.failed',
    { accountId: 'acct_1', address: '192.0.2.1' },
    { class_uid: 3002, activity_id: 1, status_id: 2 },
  ],
  ['login.ended', { accountId: 'acct_1' }, { class_uid: 3002, activity_id: 2, status_id: 1 }],
  ['account.disabled', { operator: 'root (0)' }, { class_uid: 3001, activity_id: 5 }],
  ['grant.revoked', { accountId: 'acct_1', clientId: 'c' }, { class_uid: 3005, type_uid: 300_502 }],
  ['token.issued', { clientId: 'c' }, { class_uid: 6003, activity_id: 99 }],
])('The event %s has its class and activity', (event, details, expected) => {
  const exported = { seq: 3, hash: 'h3', at: 7000, event, details };
  expect(eventToOcsf(exported, '1')).toMatchObject({
    ...expected,
    time: 7000,
    metadata: { uid: 'audit:3:h3' },
    unmapped: { gatehouse: { seq: 3, hash: 'h3' } },
  });
});
