import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import { passiveChecks } from '../../../src/doctor/all-checks.ts';
import { badTokenChecks, withMadeUpTokens } from '../../../src/doctor/reach/bad-token-checks.ts';
import { examined } from '../support/examine.ts';
import { type Fault, routeNames, startServer } from '../support/server.ts';
import { subjectOf } from '../support/view.ts';

async function report(fault: Fault) {
  return examined((await startServer({ fault })).url, badTokenChecks);
}

describe('a token in the query', () => {
  it('may be refused as a bad request', async () => {
    const found = await report((server) =>
      server.change(routeNames.mcp, (reply, { query }) =>
        query.has('access_token') ? { status: 400 } : reply,
      ),
    );
    expect(found.finding('CHALLENGE-QUERY-TOKEN').verdict).toBe('pass');
  });

  it('is unknown where the server calls no token invalid', async () => {
    const found = await report((server) =>
      server.change(routeNames.mcp, (reply) => ({ ...reply, headers: { 'www-authenticate': 'Bearer' } })),
    );
    expect(found.finding('CHALLENGE-BAD-TOKEN').verdict).toBe('warn');
    expect(found.finding('CHALLENGE-QUERY-TOKEN')).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringContaining('nobody can tell'),
    });
  });

  it('that opens the server is a failure', async () => {
    const found = await report((server) =>
      server.change(routeNames.mcp, (reply, { query }) =>
        query.has('access_token') ? { json: { jsonrpc: '2.0', id: 'doctor', result: {} } } : reply,
      ),
    );
    expect(found.bad()).toEqual(['fail CHALLENGE-QUERY-TOKEN']);
  });
});

describe('a bad token', () => {
  it('gets the same resource_metadata as no token', async () => {
    const found = await examined(
      (
        await startServer({
          fault: (server) =>
            server.change(routeNames.mcp, (reply, { headers }) =>
              headers.authorization === undefined
                ? reply
                : { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } },
            ),
        })
      ).url,
      passiveChecks,
    );
    expect(found.bad()).toEqual(['warn CHALLENGE-BAD-TOKEN']);
    expect(found.finding('CHALLENGE-BAD-TOKEN').saw).toContain('/.well-known/oauth-protected-resource/mcp');
  });

  it('is tried where a token is asked for, not at what is open to everybody', async () => {
    const found = await report((server) => {
      server.change(routeNames.mcp, (reply, { body }) =>
        body.includes('"initialize"') ? { json: { jsonrpc: '2.0', id: 'doctor', result: {} } } : reply,
      );
      server.routes['GET /mcp'] = () => ({ status: 405 });
    });
    expect(found.bad()).toEqual([]);
    expect(found.finding('CHALLENGE-BAD-TOKEN').verdict).toBe('pass');
    expect(found.finding('CHALLENGE-QUERY-TOKEN').verdict).toBe('pass');
  });

  it('that is refused by an error in an answer with 200 does not open the server', async () => {
    const found = await report((server) =>
      server.change(routeNames.mcp, (reply, { headers }) =>
        headers.authorization === undefined
          ? reply
          : { json: { jsonrpc: '2.0', id: 'doctor', error: { code: -32001, message: 'Unauthorized' } } },
      ),
    );
    expect(found.finding('CHALLENGE-BAD-TOKEN')).toMatchObject({
      verdict: 'fail',
      fix: expect.stringMatching(/^Answer 401/),
    });
  });
});

describe('made-up tokens', () => {
  it('are sent as a word, in the shape of a JWT that is expired and of a key that nobody has, and in the query', async () => {
    const server = await startServer();
    await subjectOf(server.url).fact(withMadeUpTokens);
    const sent = server.requests.flatMap(
      ({ headers }) => headers.authorization?.replace('Bearer ', '') ?? [],
    );
    expect(sent).toHaveLength(2);
    const jwt = sent[1] ?? '';
    expect(decodeProtectedHeader(jwt)).toMatchObject({ alg: 'RS256' });
    expect(decodeJwt(jwt)).toMatchObject({ aud: server.url, exp: 1 });
    expect(server.requests.at(-1)?.query.get('access_token')).toBe(sent[0]);
  });

  it('go with the request that was refused without one', async () => {
    const server = await startServer({
      fault: (sound) => {
        sound.change(routeNames.mcp, (reply, { body }) =>
          body.includes('"tools/call"') ? reply : { json: { jsonrpc: '2.0', id: 'doctor', result: {} } },
        );
        sound.routes['GET /mcp'] = () => ({ status: 405 });
      },
    });
    await subjectOf(server.url).fact(withMadeUpTokens);
    const withToken = server.requests.filter(({ headers }) => headers.authorization !== undefined);
    for (const { body } of withToken) expect(body).toContain('"tools/call"');
    expect(withToken).toHaveLength(2);
  });

  it('are not sent to a server that asks nobody for one', async () => {
    const server = await startServer({
      fault: ({ routes }) => {
        routes[routeNames.mcp] = () => ({ json: { jsonrpc: '2.0', id: 'doctor', result: {} } });
        routes['GET /mcp'] = () => ({ status: 405 });
      },
    });
    expect(await subjectOf(server.url).fact(withMadeUpTokens)).toBeUndefined();
  });
});
