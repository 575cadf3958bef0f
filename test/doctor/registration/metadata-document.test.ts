import { describe, expect, it } from 'vitest';
import type { Answered } from '../../../src/doctor/ask.ts';
import {
  metadataDocumentFaults,
  metadataUrlFaults,
  publishedRedirectUris,
} from '../../../src/doctor/registration/metadata-document.ts';

const url = 'https://client.example/oauth/client.json';
const sound = { client_id: url, client_name: 'Acme', redirect_uris: ['http://127.0.0.1/callback'] };

function answer(document: unknown, over: Partial<Answered> = {}): Answered {
  return {
    kind: 'answered',
    method: 'GET',
    url,
    evidence: [],
    status: 200,
    headers: new Headers({ 'content-type': 'application/json' }),
    text: typeof document === 'string' ? document : JSON.stringify(document),
    truncated: false,
    ...over,
  };
}

describe('the URL of a client ID metadata document', () => {
  it.each([
    ['https://client.example/client.json', []],
    ['http://client.example/client.json', ['has the scheme "http:" instead of https']],
    ['https://client.example', ['has no path']],
    ['https://client.example/a/../b', ['has a dot segment']],
    ['https://client.example/a#b', ['has a fragment']],
    ['https://me@client.example/a', ['has a user name in it']],
    ['client.json', ['is not absolute']],
  ])('%s', (value, faults) => {
    expect(metadataUrlFaults(value)).toEqual(faults);
  });
});

describe('a client ID metadata document', () => {
  it('passes with its own URL, a name and redirect URIs', () => {
    expect(metadataDocumentFaults(url, answer(sound))).toEqual([]);
  });

  it.each<[string, Answered, RegExp]>([
    [
      'redirects',
      answer('', { status: 302, headers: new Headers({ location: '/x' }) }),
      /redirects to "\/x"/,
    ],
    ['is missing', answer('', { status: 404 }), /status 404/],
    ['is a page', answer('<p>'), /no JSON object but "<p>"/],
    [
      'has another type',
      answer(sound, { headers: new Headers({ 'content-type': 'text/plain' }) }),
      /"text\/plain", not JSON/,
    ],
    ['is too long', answer({ ...sound, client_name: 'a'.repeat(6000) }), /bytes, more than the 5120/],
    ['names another URL', answer({ ...sound, client_id: `${url}/` }), /differ at character 41/],
    ['has no name', answer({ ...sound, client_name: '' }), /no client_name/],
    ['has no redirect URIs', answer({ ...sound, redirect_uris: [] }), /no redirect_uris/],
    [
      'has a redirect URI of http',
      answer({ ...sound, redirect_uris: ['http://a.example'] }),
      /http_not_loopback/,
    ],
    [
      'wants a secret',
      answer({ ...sound, token_endpoint_auth_method: 'client_secret_basic' }),
      /needs a secret/,
    ],
    ['publishes a secret', answer({ ...sound, client_secret: 's' }), /publishes a client_secret/],
  ])('is refused where it %s', (_name, given, fault) => {
    const faults = metadataDocumentFaults(url, given);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(fault);
  });

  it('gives its redirect URIs, and only texts', () => {
    expect(publishedRedirectUris(JSON.stringify({ redirect_uris: ['a:b', 1] }))).toEqual(['a:b']);
    expect(publishedRedirectUris('[]')).toEqual([]);
  });
});
