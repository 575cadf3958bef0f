import { expect, it } from 'vitest';
import {
  canFetchDocuments,
  createHostPolicy,
} from '../../../src/authorization-server/client-documents/host-policy.ts';
import { type FetchFault, FetchRefused } from '../../../src/net/fetch-refused.ts';
import type { GuardedFetch } from '../../../src/net/guarded-fetch.ts';

/** The internet, which tests cannot reach. */
function internet(outcome: FetchFault | number) {
  const asked: string[] = [];
  const fetch: GuardedFetch = async (url) => {
    asked.push(url.href);
    if (typeof outcome === 'string') throw new FetchRefused(outcome, 'refused');
    return { status: outcome, headers: {}, body: Buffer.alloc(0) };
  };
  return { asked, fetch };
}

const anyHost = { allowedHosts: [], deniedHosts: [] };

it.each([
  [200, true],
  [404, true],
  ['redirected', true],
  ['too_large', true],
  ['unreachable', false],
  ['timeout', false],
  ['certificate', false],
  ['not_public', false],
] as const)(
  'Documents can be fetched if a host that serves some responds: %s is %s (FA-52)',
  async (outcome, can) => {
    const { fetch } = internet(outcome);
    expect(await canFetchDocuments(fetch, createHostPolicy(anyHost), [])).toBe(can);
  },
);

it('Only hosts that the operator allows are tried, and none if patterns alone are allowed (FA-52)', async () => {
  const named = internet(200);
  const policy = { allowedHosts: ['apps.example.com'], deniedHosts: [] };
  await canFetchDocuments(named.fetch, createHostPolicy(policy), policy.allowedHosts);
  expect(named.asked).toEqual(['https://apps.example.com/']);

  const patterns = internet('unreachable');
  const below = { allowedHosts: ['*.example.com'], deniedHosts: [] };
  expect(await canFetchDocuments(patterns.fetch, createHostPolicy(below), below.allowedHosts)).toBe(true);
  expect(patterns.asked).toEqual([]);
});
