import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import { withMadeUpTokens } from '../../../src/doctor/reach/made-up-token.ts';
import { routeNames, startServer } from '../support/server.ts';
import { subjectOf } from '../support/view.ts';

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
