import { expect, it } from 'vitest';
import {
  backendKeyForm,
  finalName,
  finalUri,
  splitName,
  splitUri,
} from '../../../src/gateway/aggregate/final-names.ts';

const keys = ['a', 'files', 'my-files', 'b2'];
const names = ['read', 'a_b', '_', '', 'mem_read', 'x+y', 'line\nbreak', '__proto__'];
const uris = [
  'file:///a/b',
  'https://a.example/?q=1#x',
  'ui://app/page',
  'ui://a+b/c',
  'book:///{title}',
  'a+b:c',
];

it('no two backends can have the same final name: a name tells whose it is, and what it is there (T-160, C8-07)', () => {
  const finals = new Set<string>();
  for (const key of keys) {
    for (const own of names) {
      finals.add(finalName(key, own));
      expect(splitName(finalName(key, own))).toEqual({ key, own });
    }
    for (const own of uris) expect(splitUri(finalUri(key, own))).toEqual({ key, own });
  }
  expect(finals.size).toBe(keys.length * names.length);
  for (const nobodys of ['read', '_read', 'Files_read', '1_read']) expect(splitName(nobodys)).toBeUndefined();
  for (const nobodys of ['file:///a', '+file:///a', 'ui://app', 'A+b:c'])
    expect(splitUri(nobodys)).toBeUndefined();
});

it('the URI of a resource stays one, and a page for hosts keeps the scheme that they look for', () => {
  expect(finalUri('files', 'file:///a/b')).toBe('files+file:///a/b');
  expect(new URL(finalUri('files', 'file:///a/b')).href).toBe('files+file:///a/b');
  expect(finalUri('files', 'ui://app/page')).toBe('ui://files+app/page');
});

it('keys are such that names with them are names of tools to every client', () => {
  for (const key of keys) expect(backendKeyForm.test(key)).toBe(true);
  for (const key of ['', 'A', '1a', 'a_b', 'a+b', 'a.b', 'a b', 'a'.repeat(21), '__proto__'])
    expect(backendKeyForm.test(key)).toBe(false);
});
