import { describe, expect, it } from 'vitest';
import { askForChallenge, readFirstChallenge } from '../../../src/client/discovery/first-challenge.ts';
import { testContext } from '../support/context.ts';
import { startServer } from '../support/scripted-server.ts';

const walk = (server: string) => ({
  context: testContext(),
  server,
  rules: {},
  trace: [],
  allowedOrigins: [],
  chooseAuthorizationServer: () => undefined,
});

describe('the first challenge', () => {
  it.each([
    ['Bearer resource_metadata="https://a/m", scope="x y"', 'https://a/m', ['x', 'y']],
    ['BEARER scope="x y", realm="a, b", resource_metadata="https://a/m"', 'https://a/m', ['x', 'y']],
    [
      'Basic realm="a", Bearer error="invalid_token", resource_metadata="https://a/m"',
      'https://a/m',
      undefined,
    ],
    ['Bearer, DPoP resource_metadata="https://a/m"', 'https://a/m', undefined],
    [
      'DPoP resource_metadata="https://b/m", Bearer resource_metadata="https://a/m"',
      'https://a/m',
      undefined,
    ],
    ['Bearer scope="x"', undefined, ['x']],
    ['Basic realm="Bearer resource_metadata=https://evil"', undefined, undefined],
  ])('of %s gives metadata and scopes, whatever the order (A3-06)', (header, resourceMetadata, scopes) => {
    expect(readFirstChallenge(header)).toEqual({
      ...(resourceMetadata === undefined ? {} : { resourceMetadata }),
      ...(scopes === undefined ? {} : { scopes }),
    });
  });

  it.each([
    ['DPoP algs="ES256", scope="x"', true],
    ['DPoP resource_metadata="https://a/m", scope="x"', true],
    ['DPoP algs="ES256", Bearer scope="x"', undefined],
    ['Bearer scope="x"', undefined],
  ])('of %s says whether only tokens bound to a key are taken (A13-09)', (header, dpop) => {
    expect(readFirstChallenge(header)).toMatchObject({ scopes: ['x'] });
    expect(readFirstChallenge(header).dpop).toBe(dpop);
  });

  it('is read from several header fields too (A3-06)', async () => {
    const server = await startServer({
      'POST /mcp': {
        status: 401,
        headers: { 'www-authenticate': ['Negotiate', 'Bearer resource_metadata="http://x/m"'] },
        text: '',
      },
    });
    expect(await askForChallenge(walk(`${server.origin}/mcp`))).toEqual({
      protected: true,
      resourceMetadata: 'http://x/m',
    });
  });

  it('is looked for with GET where POST is not answered with 401', async () => {
    const server = await startServer({
      'POST /mcp': { status: 405, text: '' },
      'GET /mcp': { status: 401, text: '' },
    });
    expect(await askForChallenge(walk(`${server.origin}/mcp`))).toEqual({ protected: true });
    expect(server.asked()).toEqual(['POST /mcp', 'GET /mcp']);
  });

  it('does not wait for the end of a stream that the server opens', async () => {
    const server = await startServer({
      'POST /mcp': { status: 405, text: '' },
      'GET /mcp': {
        raw: (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(': open\n\n');
        },
      },
    });
    expect(await askForChallenge(walk(`${server.origin}/mcp`))).toEqual({ protected: false });
  });

  it('is not taken from a server error', async () => {
    const server = await startServer({ 'POST /mcp': { status: 502, text: '' } });
    await expect(askForChallenge(walk(`${server.origin}/mcp`))).rejects.toMatchObject({
      reason: 'server_error',
    });
  });
});
