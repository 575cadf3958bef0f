import { describe, expect, it } from 'vitest';
import {
  createUriReader,
  foldedBeginnings,
  foldedPatterns,
  hrefOf,
} from '../../../src/mcp/scopes/uri-spellings.ts';

const read = (uri: string) => createUriReader('message')(uri);

describe('a URI', () => {
  it.each([
    ...['note://SECRET/b', 'note:///secret/b', 'note:////secret/b', 'note:secret/b', 'note:/secret//b'],
    ...['note:\\\\secret\\b', 'note:\\secret/b', 'note://secret./b', 'note://secret../b', 'note://secret /b'],
    ...[
      'note://secret/b.',
      'note://secret/b;v=1',
      'note://secret;x/b',
      'note://secret/b%20',
      ' note://secret/b',
    ],
    ...[
      'NOTE://secret/b',
      'no\tte://secret/b',
      'note://s%65cret/b',
      'note://s%2565cret/b',
      'note%3A//secret/b',
    ],
    ...[
      'note://secret%2fb',
      'note://secret%5cb',
      'note://sec\u200bret/b',
      'note://sec\u00adret/b',
      'note://secret/%00b',
    ],
    ...[
      'note:／／secret／b',
      'note://ｓecret/b',
      'note://ſecret/b',
      'note://secret。/b',
      'note://secret%EF%BC%8Fb',
    ],
    ...[
      'note://user@secret/b',
      'note://us%65r:word@secret:80/b',
      'note://secret:80/b',
      'note://pub\\@secret/b',
    ],
    ...[
      'note://pub;@secret/b',
      'note://pub/../secret/b',
      'note://pub/..;/secret/b',
      'note://pub/..;x=1/secret/b',
    ],
    ...[
      'note://pub/.. /secret/b',
      'note://pub/%2e%2e/secret/b',
      'note://pub/．．/secret/b',
      'note://pub//../secret/b',
    ],
    ...[
      'note://pub?/../secret/b',
      'note://pub#/../secret/b',
      'note://pub%2f..%2fsecret/b',
      'note://./secret/b',
    ],
  ])('%j may be read as note://secret/b (FA-09, T-212, T-110)', (uri) => {
    expect(read(uri)?.folded).toContain('note:secret/b/');
  });

  it.each([
    ['file:///notes/a', 'file:notes/a/'],
    ['file:///My%20Files/a', 'file:my files/a/'],
    ['file://localhost/notes/a', 'file:notes/a/'],
    ['file://127.0.0.1/notes/a', 'file:notes/a/'],
    ['file://user:pw@/notes/a', 'file:notes/a/'],
    ['files+file://host/notes/a', 'files+file:notes/a/'],
    ['note://user@/secret/b', 'note:secret/b/'],
    ['files+file:///srv/%2e%2e/x', 'files+file:x/'],
    ['file:///a/b//../../secret/x', 'file:secret/x/'],
    ['https://HOST:443/a?b=c', 'https:host/a/?b=c'],
    ['https://user@secret:8443/1', 'https:secret:8443/1/'],
    ['note://xn--bcher-kva/a', 'note:bücher/a/'],
    ['ui://files+user@secret/a', 'ui:files+secret/a/'],
    ['ui://files+user@secret/a', 'ui:secret/a/'],
    ['no URI %ff', 'no uri %ff/'],
    ['note://x?@secret/b', 'note:secret/b/'],
    ['note://x#@secret/b?c', 'note:secret/b/?c'],
    ['/srv/locked/a', 'file:srv/locked/a/'],
    ['c:/notes', 'file:c:/notes/'],
    ['\\srv\\locked', 'file:srv/locked/'],
    ['C:\\srv\\locked', 'file:c:/srv/locked/'],
  ])('%s may be read as %s', (uri, text) => expect(read(uri)?.folded).toContain(text));

  it.each([
    'file:///pub/a',
    'note:///a',
    'https://host:8443/a.b/c?d=1..2',
    'note://host/MyFiles/(a)..b.txt',
    'urn:isbn:123',
  ])('that is written plainly has one reading: %s', (uri) => expect(read(uri)?.folded).toHaveLength(1));

  it('with a blank is read without it as well (FA-09, T-212)', () => {
    expect(read('note://sec ret/b')?.folded).toContain('note:secret/b/');
    expect(read('note://sec%20ret/b')?.folded).toContain('note:secret/b/');
  });

  it('is read with the case of its path', () => {
    expect(read('note://a/B')?.folded).toEqual(['note:a/B/']);
  });

  it.each([
    ...[
      'a://x/../y',
      'a://x/%2e%2E/y',
      'a://x/%252e%252e/y',
      'a://x%2f..%2fy',
      'a:x\\..\\y',
      '../y',
      'a://x/..',
    ],
    ...[
      'a://x/.\t./y',
      'a://x/..%2\tfy',
      'a://x/%2e%2e%2f%ff%2fy',
      'a:../y',
      'a://x/..;/y',
      'a://x/.%20./../y',
    ],
  ])('leads elsewhere than it says: %s (T-149)', (uri) => expect(read(uri)?.leadsElsewhere).toBe(true));

  it.each(['a://x/..y', 'a://x/y..z/.config', 'https://host/a.b/?c=1..2'])('leads where it says: %s', (uri) =>
    expect(read(uri)?.leadsElsewhere).toBe(false),
  );

  it.each([
    ['encoded more than three times', 'note://%2525252573ecret'],
    ['longer than 8,192 characters', `note://${'a'.repeat(8186)}`],
    ['of many dot segments', `note://a/${'../'.repeat(1000)}`],
    ['whose characters become many', `note://${'\ufdfa'.repeat(8000)}`],
  ])('is not read if it is %s (FA-04, T-204)', (_what, uri) => expect(read(uri)).toBeUndefined());
});

describe('the URIs of a message', () => {
  it.each([
    ['many', (at: number) => `note://a/${at}/%25 x`, 45_000],
    ['long', (at: number) => `note://a/${'%ff%41'.repeat(1350)}${at}`, 100],
    ['plain', (at: number) => `note://a/${'b/'.repeat(4000)}${at}`, 1000],
  ])('are not read beyond a number of characters: %s (FA-04, T-204)', (_what, uriOf, count) => {
    const readUri = createUriReader('message');
    const uris = Array.from({ length: count }, (_, at) => uriOf(at));
    expect(readUri(uris[0] ?? '')).toBeDefined();
    expect(uris.map(readUri).at(-1)).toBeUndefined();
  });

  it('are all read in a list of 1,000 names in other scripts, and of 10,000 with blanks', () => {
    const scripts = createUriReader('list');
    for (let at = 0; at < 1000; at++)
      expect(scripts(`file:///%E4%BD%A0%E5%A5%BD/名前${at}.txt`)).toBeDefined();
    const blanks = createUriReader('list');
    for (let at = 0; at < 10_000; at++) expect(blanks(`file:///C:/My%20Files/a b (${at}).txt`)).toBeDefined();
  });
});

it('a URI of one of several backends is written as URLs are behind its key', () => {
  expect(hrefOf('files+FILE:/my notes')).toBe('files+file:///my%20notes');
});

it('the beginning of URIs is folded without an end of its own', () => {
  expect(foldedBeginnings('note://secret')).toEqual(['note:secret']);
  expect(foldedBeginnings('note:///Secret/')).toEqual(['note:secret/']);
  expect(foldedBeginnings('file:///srv/.')).toEqual(['file:srv/.']);
  expect(foldedBeginnings('file:///My Files/')).toContain('file:my%20files/');
});

it('a pattern of URIs keeps its stars, and has what is left without a port only where that is asked for', () => {
  expect(foldedPatterns('*', 'as written')).toEqual(['*']);
  expect(foldedPatterns('note://*.b/c*', 'as written')).toEqual(['note:*.b/c*']);
  expect(foldedPatterns('note://b:1/*', 'as written')).toEqual(['note:b:1/*']);
  expect(foldedPatterns('note://b:1/*', 'with less')).toEqual(['note:b:1/*', 'note:b/*']);
});
