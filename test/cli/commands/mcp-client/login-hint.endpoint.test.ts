import { describe, expect, it } from 'vitest';
import { guessEndpoint } from '../../../../src/cli/commands/mcp-client/login-hint.ts';
import { startServer } from '../../../client/support/scripted-server.ts';

const challenge = { status: 401, headers: { 'www-authenticate': 'Bearer' }, text: '' };

describe('the MCP server a user may have meant', () => {
  it.each([
    ['/', '/mcp'],
    ['/sse', '/mcp'],
    ['/v1/sse/', '/v1/mcp'],
    ['/api', '/api/mcp'],
    ['/mcp/', '/mcp'],
    ['/mpc', '/mcp'],
  ])('where they gave %s is at %s', async (given, meant) => {
    const server = await startServer({ [`POST ${meant}`]: challenge });
    expect(await guessEndpoint(fetch, server.origin + given)).toBe(server.origin + meant);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('is where the metadata on the same origin says, and nowhere else then', async () => {
    const server = await startServer({ 'POST /mcp': challenge, 'POST /tools/mcp': challenge });
    const at = (path: string) => server.origin + path;
    expect(await guessEndpoint(fetch, at('/tools/x/mcp'), at('/tools/mcp'))).toBe(at('/tools/mcp'));
    expect(await guessEndpoint(fetch, at('/tools/x/mcp'), at('/gone/mcp'))).toBeUndefined();
    expect(await guessEndpoint(fetch, at('/x/mcp'), 'https://elsewhere.example/mcp')).toBe(at('/mcp'));
  });

  it.each(['/mcp', '/mcp?team=a'])('is not where they gave it already: %s', async (given) => {
    const server = await startServer({ 'POST /mcp': challenge });
    expect(await guessEndpoint(fetch, server.origin + given)).toBeUndefined();
  });

  it('may need no token', async () => {
    const server = await startServer({ 'POST /mcp': { json: { jsonrpc: '2.0', id: 1, result: {} } } });
    expect(await guessEndpoint(fetch, `${server.origin}/`)).toBe(`${server.origin}/mcp`);
  });

  it.each([
    ['a page', { headers: { 'content-type': 'text/html' }, text: '<p>' }],
    ['nothing', { status: 404, text: '' }],
    ['a redirect', { status: 302, headers: { location: 'https://elsewhere.example/' }, text: '' }],
  ])('is not where there is %s', async (_, answer) => {
    const server = await startServer({ 'POST /mcp': answer });
    expect(await guessEndpoint(fetch, `${server.origin}/`)).toBeUndefined();
  });

  it('is nowhere where nobody answers', async () => {
    expect(await guessEndpoint(fetch, 'http://127.0.0.1:9/')).toBeUndefined();
  });
});
