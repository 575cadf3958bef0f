import { describe, expect, it } from 'vitest';
import {
  type DiscoveryWalk,
  fetchDocument,
  readStrings,
} from '../../../src/client/discovery/discovery-walk.ts';
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
  const document = await fetchDocument(walk, 'authorization_server', `${server.origin}/d`).catch(
    (error: { reason: string }) => error.reason,
  );
  return { document, step: walk.trace.at(-1) };
}

describe('a well-known place', () => {
  it('with a JSON object is taken', async () => {
    expect(await ask({ json: { a: 1 } })).toMatchObject({ document: { a: 1 }, step: { verdict: 'taken' } });
  });

  it.each([401, 403, 404, 405, 410])('that answers %i counts as empty', async (status) => {
    const { document, step } = await ask({ status, json: {} });
    expect([document, step?.verdict, step?.status]).toEqual([undefined, 'absent', status]);
  });

  it('with a page counts as empty, and the trace says so', async () => {
    const { document, step } = await ask({
      headers: { 'content-type': 'text/html; charset=utf-8' },
      text: '<p>',
    });
    expect(document).toBeUndefined();
    expect(step).toMatchObject({ verdict: 'absent', reason: 'not a JSON document but "text/html"' });
  });

  it.each(['[]', 'null', '"x"', '{'])('with %s as JSON stops the walk', async (text) => {
    const { document, step } = await ask({ headers: { 'content-type': 'application/json' }, text });
    expect([document, step?.verdict]).toEqual(['bad_metadata', 'refused']);
  });

  it.each([500, 503, 429, 408])('that answers %i for now stops the walk (A2-08)', async (status) => {
    const { document, step } = await ask({ status, text: '' });
    expect([document, step?.verdict]).toEqual(['server_error', 'refused']);
  });
});

describe('a list of strings in metadata', () => {
  it('loses what is no string; what is no list is none', () => {
    expect(readStrings(['a', 1, null, 'b'])).toEqual(['a', 'b']);
    expect(readStrings('S256')).toBeUndefined();
  });
});
