import { describe, expect, it } from 'vitest';
import { askPlace, type DiscoveryWalk, readStrings } from '../../../src/client/discovery/well-known.ts';
import { testContext } from '../support/context.ts';
import { type Answer, startServer } from '../support/scripted-server.ts';

async function ask(answer: Answer) {
  const server = await startServer({ 'GET /d': answer });
  const walk: DiscoveryWalk = {
    context: testContext(),
    server: server.origin,
    rules: {},
    trace: [],
    allowedOrigins: [],
    chooseAuthorizationServer: () => undefined,
  };
  const place = await askPlace(walk, 'authorization_server', `${server.origin}/d`);
  return { place, step: walk.trace.at(-1) };
}

describe('a well-known place', () => {
  it('with a JSON object is taken', async () => {
    expect(await ask({ json: { a: 1 } })).toMatchObject({
      place: { kind: 'document', members: { a: 1 } },
      step: { verdict: 'taken' },
    });
  });

  it.each([401, 403, 404, 405, 410])('that answers %i counts as empty', async (status) => {
    const { place, step } = await ask({ status, json: {} });
    expect([place.kind, step?.verdict, step?.status]).toEqual(['absent', 'absent', status]);
  });

  it('with a page counts as empty, and the trace says so', async () => {
    const { place, step } = await ask({
      headers: { 'content-type': 'text/html; charset=utf-8' },
      text: '<p>',
    });
    expect(place.kind).toBe('absent');
    expect(step).toMatchObject({ verdict: 'absent', reason: 'not a JSON document but "text/html"' });
  });

  it.each(['[]', 'null', '"x"', '{'])('with %s as JSON may have a document, and has none', async (text) => {
    const { place, step } = await ask({ headers: { 'content-type': 'application/json' }, text });
    expect([place, step?.verdict]).toEqual([
      { kind: 'unusable', reason: 'bad_metadata', why: expect.stringContaining('holds no JSON object') },
      'refused',
    ]);
  });

  it.each([500, 503, 429, 408])('that answers %i for now may have a document (A2-08)', async (status) => {
    const { place, step } = await ask({ status, text: '' });
    expect([place, step?.verdict]).toEqual([
      { kind: 'unusable', reason: 'server_error', why: `status ${status}` },
      'refused',
    ]);
  });

  it.each([
    ['text/plain', '{"a":1}', 'mediaType'],
    ['application/json', '\uFEFF{"a":1}', 'byteOrderMark'],
    ['application/json', '{"a":1,"b":null}', 'emptyAnswerMembers'],
  ])('with a slip (%s %j) is read, and the trace names it: %s (FA-26, FA-27)', async (type, text, name) => {
    const { place, step } = await ask({ headers: { 'content-type': type }, text });
    expect(place).toEqual({ kind: 'document', members: { a: 1 } });
    expect(step?.tolerated).toEqual([name]);
  });

  it('that redirects to another origin may have a document, and nothing goes there (FA-27, T-186)', async () => {
    const { place } = await ask({ status: 302, headers: { location: 'http://127.0.0.1:9/d' }, text: '' });
    expect(place).toMatchObject({ kind: 'unusable', reason: 'redirected' });
    expect(place).toMatchObject({ why: 'a redirect (302) to "http://127.0.0.1:9/d", which is not followed' });
  });
});

describe('a list of strings in metadata', () => {
  it('loses what is no string; what is no list is none', () => {
    expect(readStrings(['a', 1, null, 'b'])).toEqual(['a', 'b']);
    expect(readStrings('S256')).toBeUndefined();
  });
});
