import { expect, test } from 'vitest';
import { isMissingLink } from '../../../src/mcp/upstreams/upstream.ts';
import { createTestAccess } from './support.ts';

test('what is missing is told from an answer of the API, whatever the API says', async () => {
  const { access } = createTestAccess();
  const call = { upstream: 'work', url: 'https://api.example/', init: {}, scopes: [], patienceMs: 0 };
  const missing = await access.call({ ...call, caller: { subject: 'ann' } as never });
  expect([isMissingLink(missing), isMissingLink(new Response('{"missing":"link"}'))]).toEqual([true, false]);
});
