import { expect, test } from 'vitest';
import { invitation, type MissingLink, UpstreamLinkNeeded } from '../../../src/mcp/upstreams/upstream.ts';

const url = 'https://gate.example/account/upstreams/work/link';
const missing: MissingLink = {
  missing: 'link',
  upstream: 'work',
  label: 'Work',
  url,
  accountId: 'ann',
  scopes: [],
};

test.each([
  ['link', 'This needs your account at Work. Link it to your account here.'],
  ['scopes', 'This needs more from your account at Work than you have allowed so far. Allow it here.'],
] as const)('what is missing is said with what to do, and where: %s', (kind, message) => {
  const needed = new UpstreamLinkNeeded({ ...missing, missing: kind });
  expect(invitation({ ...missing, missing: kind })).toBe(message);
  expect(needed.message).toBe(`${message} Open ${url} in a browser, and send this call again afterwards.`);
  expect([needed.name, needed.upstream, needed.url]).toEqual(['UpstreamLinkNeeded', 'work', url]);
});
