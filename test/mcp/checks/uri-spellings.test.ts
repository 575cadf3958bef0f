import { expect, it } from 'vitest';
import { hrefOf, leadsElsewhere, uriSpellings } from '../../../src/mcp/checks/uri-spellings.ts';

it.each([
  ['file:///notes/a', 'file:///notes/a'],
  ['file:///n%6ftes/a', 'file:///notes/a'],
  ['file:///n%256ftes/a', 'file:///notes/a'],
  ['FILE:///notes/a', 'file:///notes/a'],
  ['file:/notes/a', 'file:///notes/a'],
  ['files+FILE:/n%6ftes/a', 'files+file:///notes/a'],
  ['git+https://HOST/a', 'git+https://host/a'],
  ['file:////notes/a', 'file:///notes/a'],
  ['https://host/notes//a', 'https://host/notes/a'],
  ['https://HOST/a', 'https://host/a'],
  ['no URI %ff', 'no URI %ff'],
])('%s may be read as %s (T-110)', (uri, read) => {
  expect(uriSpellings(uri)[0]).toBe(uri);
  expect(uriSpellings(uri)).toContain(read);
});

it.each([
  'a://x/../y',
  'a://x/%2e%2E/y',
  'a://x/%252e%252e/y',
  'a://x%2f..%2fy',
  'a:x\\..\\y',
  '../y',
  'a://x/..',
])('%s leads elsewhere than it says (T-149)', (uri) => expect(leadsElsewhere(uri)).toBe(true));

it.each(['a://x/..y', 'a://x/y..z/.config', 'https://host/a.b/?c=1..2'])('%s leads where it says', (uri) =>
  expect(leadsElsewhere(uri)).toBe(false),
);

it('a URI of one of several backends is written as URLs are behind its key', () => {
  expect(hrefOf('files+FILE:/my notes')).toBe('files+file:///my%20notes');
});
