import { expect, it } from 'vitest';
import { noUpstreams } from '../../src/authorization-server/server-options.ts';

it('where there is no upstream none is offered, and nothing is kept for any', () => {
  const { upstreams, vault } = noUpstreams;
  expect(upstreams.all).toEqual([]);
  expect(upstreams.find('work')).toBeUndefined();
  expect(() => vault.sealTokens('link', { accessToken: 't', scopes: [] })).toThrow(/no upstream/);
});
