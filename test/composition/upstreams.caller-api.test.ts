import { expect, test } from 'vitest';
import { composeCallerApi } from '../../src/composition/upstreams.ts';
import { accountMark } from '../../src/crypto/secret.ts';
import { createCallerTokens } from '../../src/upstream/index.ts';
import { authInfoWith } from '../mcp/support/auth-info.ts';

const parts = {
  tokens: createCallerTokens({
    links: { findOfAccount: async () => undefined, wantScopes: async () => undefined },
    standing: { tokensOf: async () => 'none' as const },
    now: () => 0,
  }),
  dangerouslyFromLoopback: false,
  issuer: 'https://gate.example/mcp',
};

test('tools have nothing to call where there is no upstream', () => {
  expect(composeCallerApi({ ...parts, upstreams: { all: [], find: () => undefined } })).toBeUndefined();
});

test('people are sent to the page of ours where they link, below the public URL', async () => {
  const work = {
    name: 'work',
    label: 'Work',
    settings: { apiHosts: ['api.example'], allowPrivateNetwork: false },
  };
  const upstreams = { all: [work], find: () => work } as never;
  const api = composeCallerApi({ ...parts, upstreams });
  const call = { caller: authInfoWith(), upstream: 'work', url: 'https://api.example/', init: {} };
  expect(await api?.call({ ...call, scopes: [], patienceMs: 0 })).toMatchObject({
    missing: 'link',
    url: `https://gate.example/mcp/account/upstreams/work/link/${accountMark('ann')}`,
  });
});
