import { describe, expect, it } from 'vitest';
import { passiveChecks } from '../../../src/doctor/passive-checks.ts';
import { badTokenChecks } from '../../../src/doctor/reach/bad-token-checks.ts';
import { examined } from '../support/examine.ts';
import { type Fault, routeNames, startServer } from '../support/server.ts';

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
