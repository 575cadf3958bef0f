import { expect, it } from 'vitest';
import { hrefOf, leadsElsewhere, uriSpellings, uriTargets } from '../../../src/mcp/checks/uri-spellings.ts';

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
  ['notes://user@secret/a', 'notes://secret/a'],
  ['notes://u%73er%40secret:80//a', 'notes://secret/a'],
  ['files+notes://secret:80/a', 'files+notes://secret/a'],
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
  'a://x/.\t./y',
  'a://x/..%2\tfy',
  'a://x/%2e%2e%2f%ff%2fy',
  'a:../y',
])('%s leads elsewhere than it says (T-149)', (uri) => expect(leadsElsewhere(uri)).toBe(true));

it.each(['a://x/..y', 'a://x/y..z/.config', 'https://host/a.b/?c=1..2'])('%s leads where it says', (uri) =>
  expect(leadsElsewhere(uri)).toBe(false),
);

it('a URI of one of several backends is written as URLs are behind its key', () => {
  expect(hrefOf('files+FILE:/my notes')).toBe('files+file:///my%20notes');
});

it.each([
  ['file:///pub/a', ['file:///pub/a']],
  ['notes:///a', ['notes:///a']],
  ['file:///My%20Files/a', ['file:///My%20Files/a']],
  ['https://x/a//b', ['https://x/a//b', 'https://x/a/b']],
  ['notes://%73ecret/1', ['notes://%73ecret/1', 'notes://secret/1']],
  ['file:///pub/..%2fsecret', ['file:///pub/..%2fsecret', 'file:///secret']],
  ['files+file:///srv/%2e%2e/x', ['files+file:///x']],
  ['notes://%7\t3ecret', ['notes://%73ecret', 'notes://secret']],
  ['notes://user:word@secret/1', ['notes://user:word@secret/1', 'notes://secret/1']],
  ['notes://secret:80/1', ['notes://secret:80/1', 'notes://secret/1']],
  ['files+notes://user@secret/1', ['files+notes://user@secret/1', 'files+notes://secret/1']],
  ['https://user@secret:8443/1', ['https://user@secret:8443/1', 'https://secret:8443/1']],
  ['notes:user@secret', ['notes:user@secret']],
  ['notes://pub/../secret/1', ['notes://pub/secret/1', 'notes://secret/1']],
  [
    'notes://pub/..%5c..%5csecret',
    ['notes://pub/..%5c..%5csecret', 'notes://pub/..\\..\\secret', 'notes://secret'],
  ],
  ['files+notes:pub/./../secret?a=../b', ['files+notes:pub/./../secret?a=../b', 'files+notes:secret?a=../b']],
  ['ui://files+user@secret/a', ['ui://files+user@secret/a', 'ui://files+secret/a', 'ui://secret/a']],
  ['ui://files+app/../secret/a', ['ui://files+app/secret/a', 'ui://files+secret/a', 'ui://secret/a']],
  ['no URI', ['no URI']],
])('%s may lead to %j', (uri, targets) => {
  expect(uriTargets(uri)).toEqual(targets);
  expect(targets.map((target) => hrefOf(target))).toEqual(targets);
});

it.each([
  ['file:///public//../secret/x', 'file:///secret/x'],
  ['file:///a/b//../../secret/x', 'file:///secret/x'],
  ['notes://public//../secret/x', 'notes://secret/x'],
  ['notes://public/a//../../secret', 'notes://secret'],
  ['notes://public?/../secret/x', 'notes://secret/x'],
  ['notes://public#/../secret', 'notes://secret'],
  ['file:///public?/../secret/x', 'file:///secret/x'],
  ['files+notes://public%2f%2f..%2fsecret', 'files+notes://secret'],
  ['ui://files+public?/../secret', 'ui://files+secret'],
  ['ui://files+%75ser@secret/a', 'ui://files+secret/a'],
])('%s may lead to %s where it is read as a path (T-110)', (uri, target) => {
  expect(uriTargets(uri)).toContain(target);
});

it('a key within a URI of an app stays, so that what denies its host denies it with a user, too (T-149)', () => {
  const read = ['ui://files+secret/a', 'ui://secret/a'];
  expect(uriSpellings('ui://files+user@secret/a')).toEqual(expect.arrayContaining(read));
});
