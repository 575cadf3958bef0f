import { describe, expect, it } from 'vitest';
import { isClientKnown } from '../../../src/client/index.ts';
import { testContext } from '../support/context.ts';
import { startServer } from '../support/scripted-server.ts';

describe('a client registered earlier', () => {
  it.each([
    [200, true],
    [302, true],
    [403, true],
    [500, true],
    [401, true],
  ])('where /authorize answers %i is known: %s', async (status, known) => {
    const server = await startServer({
      'GET /authorize': { status, headers: { location: '/login' }, text: '' },
    });
    expect(await isClientKnown(testContext(), `${server.origin}/authorize?client_id=x`)).toBe(known);
    expect(new Set(server.asked())).toEqual(new Set(['GET /authorize']));
  });

  it.each([
    ['invalid_client', undefined, false],
    ['invalid_request', "Client ID 'x' not found", false],
    ['unauthorized_client', 'Unknown client.', false],
    ['invalid_scope', 'no client has this scope', true],
    ['invalid_target', undefined, true],
    ['invalid_request', 'code_challenge is missing', true],
    ['invalid_request', "Redirect URI 'http://127.0.0.1:4/x' not registered for client", true],
  ])('to whom a program is told %s (%s) is known: %s', async (error, description, known) => {
    for (const status of [400, 401]) {
      const json = { error, error_description: description };
      const told = await startServer({ 'GET /authorize': { status, json } });
      expect(await isClientKnown(testContext(), `${told.origin}/authorize?client_id=x`)).toBe(known);
      const asked = await startServer({
        'GET /authorize': ({ headers }) =>
          headers.accept === 'application/json' ? { status, json } : { status, text: '<title>Sorry</title>' },
      });
      expect(await isClientKnown(testContext(), `${asked.origin}/authorize?client_id=x`)).toBe(known);
    }
  });

  it('is known where a page without a reason answers what is asked for, and forgotten where it answers everything', async () => {
    const server = await startServer({
      'GET /authorize': ({ query }) =>
        query.has('scope') ? { status: 400, text: '<title>Sorry</title>' } : { text: '<form>' },
    });
    const url = `${server.origin}/authorize?client_id=x&scope=reed&resource=r`;
    expect(await isClientKnown(testContext(), url)).toBe(true);
    expect(server.requests.at(-1)?.query.toString()).toBe('client_id=x');
    server.routes['GET /authorize'] = { status: 400, text: 'who?' };
    expect(await isClientKnown(testContext(), url)).toBe(false);
  });

  it('is not forgotten because the server cannot be reached', async () => {
    const check = isClientKnown(testContext(), 'http://127.0.0.1:9/authorize');
    await expect(check).rejects.toMatchObject({ reason: 'unreachable' });
  });
});
