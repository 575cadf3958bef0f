import { describe, expect, it } from 'vitest';
import { checkDocumentUrl } from '../../../src/authorization-server/client-documents/document.ts';

describe('the URL of a document', () => {
  it.each([
    'https://app.example.com/client.json',
    'https://app.example.com/',
    'https://app.example.com:8443/oauth/client.json',
    'https://app.example.com/client?v=1',
    'https://xn--bcher-kva.example/c',
    'https://app.example.com/a%20b',
  ])('may be %s (A5-06)', (url) => {
    expect(checkDocumentUrl(url)).toBeUndefined();
  });

  it.each([
    ['http', 'http://app.example.com/c', 'https'],
    ['a scheme of its own', 'app:client', 'https'],
    ['no URL', 'https://', 'https'],
    ['no path', 'https://app.example.com', 'written as https://app.example.com/'],
    ['a fragment', 'https://app.example.com/c#f', 'fragment'],
    ['an empty fragment', 'https://app.example.com/c#', 'fragment'],
    ['a user name', 'https://u@app.example.com/c', 'user name'],
    ['an empty user name', 'https://@app.example.com/c', 'written as'],
    ['a password', 'https://:p@app.example.com/c', 'user name'],
    ['dot segments', 'https://app.example.com/a/../c', 'written as'],
    ['dot segments in disguise', 'https://app.example.com/a/%2e%2e/c', 'written as'],
    ['a dot segment', 'https://app.example.com/./c', 'written as'],
    ['a tab inside', 'https://app.example.com/\tc', 'written as'],
    ['a line feed inside', 'https://app.exa\nmple.com/c', 'written as'],
    ['a blank before it', ' https://app.example.com/c', 'written as'],
    ['a backslash', 'https://app.example.com\\c', 'written as'],
    ['a name in Unicode', 'https://bücher.example/c', 'written as https://xn--bcher-kva.example/c'],
    ['upper case', 'https://App.example.com/c', 'written as'],
    ['the default port', 'https://app.example.com:443/c', 'written as'],
    ['one slash', 'https:/app.example.com/c', 'written as'],
    ['a dot after the host', 'https://app.example.com./c', 'no dot'],
    ['a number for a host', 'https://2130706433/c', 'written as https://127.0.0.1/c'],
    ['2,049 characters', `https://app.example.com/${'c'.repeat(2025)}`, '2048'],
  ])('has not %s (T-073, T-078)', (_what, url, fault) => {
    expect(checkDocumentUrl(url)).toContain(fault);
  });
});
