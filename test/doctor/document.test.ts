import { describe, expect, it } from 'vitest';
import type { Answer } from '../../src/doctor/ask.ts';
import { internalFault, readDocument, stringsOf } from '../../src/doctor/document.ts';

function answered(status: number, type: string, text: string, truncated = false): Answer {
  const asked = { method: 'GET', url: 'https://a/', evidence: [1] };
  return {
    kind: 'answered',
    ...asked,
    status,
    headers: new Headers({ 'content-type': type }),
    text,
    truncated,
  };
}

describe('what a well-known place holds', () => {
  it('is a document where it is 200, JSON and an object', () => {
    const members = { issuer: 'https://a' };
    for (const type of ['application/json', 'application/json; charset=utf-8', 'application/x+json'])
      expect(readDocument(answered(200, type, JSON.stringify(members)))).toEqual({
        kind: 'document',
        members,
      });
  });

  it.each([404, 405, 410])('is absent with status %s', (status) => {
    expect(readDocument(answered(status, 'text/html', '<h1>'))).toEqual({ kind: 'absent' });
  });

  it.each([
    ['a page', answered(200, 'text/html', '<html>'), '"text/html", not application/json'],
    ['no type', answered(200, '', '{}'), 'without a media type'],
    ['a login', answered(401, 'application/json', '{}'), 'a login before the login'],
    ['a redirect', answered(302, 'text/html', ''), 'it answers 302'],
    ['an error', answered(502, 'text/html', ''), 'it answers 502'],
    ['no JSON', answered(200, 'application/json', '{"a":'), 'not valid JSON'],
    ['a list', answered(200, 'application/json', '[]'), 'no object'],
    ['an endless answer', answered(200, 'application/json', '{}', true), '256 KiB'],
  ])('is unusable where it is %s', (_what, answer, why) => {
    expect(readDocument(answer)).toEqual({ kind: 'unusable', why: expect.stringContaining(why) });
  });

  it('has lists of strings', () => {
    expect(stringsOf(['a', 1, 'b'])).toEqual(['a', 'b']);
    expect(stringsOf('a')).toBeUndefined();
  });
});

describe('an internal host', () => {
  const called = 'https://mcp.example.com/mcp';

  describe('an address that a server publishes', () => {
    it.each([
      ['http://backend:8080/mcp', 'the host backend, a name of an inner network'],
      ['https://mcp.default.svc.cluster.local/mcp', 'a name of an inner network'],
      ['http://app.internal/mcp', 'app.internal'],
      ['http://localhost:3000/mcp', 'localhost, which clients cannot reach'],
      ['http://10.1.2.3/mcp', '10.1.2.3, which clients cannot reach'],
      ['http://[::1]:3000/mcp', '[::1], which clients cannot reach'],
      ['http://mcp.example.com/mcp', 'is http, while the server is called by https'],
    ])('leads into the inner network: %s', (published, why) => {
      expect(internalFault(published, called)).toContain(why);
    });

    it.each(['https://mcp.example.com/mcp', 'https://login.example.com', 'https://8.8.8.8/', 'nonsense'])(
      'is fit for clients, or no matter of this rule: %s',
      (published) => {
        expect(internalFault(published, called)).toBeUndefined();
      },
    );

    it('may be local where the server is', () => {
      expect(internalFault('http://localhost:3001', 'http://127.0.0.1:3000/mcp')).toBeUndefined();
      expect(internalFault('http://192.168.1.5/', 'http://localhost:3000/mcp')).toBeUndefined();
    });
  });
});
