import { expect, it } from 'vitest';
import { createNearLookup, isNear } from '../../../../src/gateway/backends/remote/near-lookup.ts';

const addressesOf: Record<string, string[]> = {
  'notes.internal': ['172.18.0.3', 'fd00::3'],
  'mixed.example': ['10.0.0.1', '93.184.215.14'],
  'public.example': ['93.184.215.14'],
  'metadata.internal': ['169.254.169.254'],
};

const find = createNearLookup((host, _options, answer) => {
  const found = addressesOf[host];
  if (found)
    answer(
      null,
      found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  else answer(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), []);
});
const ask = (host: string, all = false): Promise<unknown> =>
  new Promise((resolve) => find(host, { all }, (error, ...found) => resolve(error?.code ?? found)));

it('a host without TLS is this machine or one of a private network, with all of its addresses', async () => {
  expect(await ask('notes.internal')).toEqual(['172.18.0.3', 4]);
  expect(await ask('notes.internal', true)).toEqual([
    [
      { address: '172.18.0.3', family: 4 },
      { address: 'fd00::3', family: 6 },
    ],
  ]);
  for (const host of ['mixed.example', 'public.example', 'metadata.internal'])
    expect(await ask(host)).toBe('PUBLIC_ADDRESS');
  expect(await ask('nowhere.example')).toBe('ENOTFOUND');
  expect(['127.0.0.1', '::1', '192.168.1.1', '8.8.8.8', '0.0.0.0'].filter(isNear)).toEqual([
    '127.0.0.1',
    '::1',
    '192.168.1.1',
  ]);
});
