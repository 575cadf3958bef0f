import { describe, expect, it } from 'vitest';
import { hintAtLogin, warnOfScopes } from '../../../../src/cli/commands/mcp-client/login-hint.ts';
import { ClientError, type DiscoveredServer, discover } from '../../../../src/client/index.ts';
import { testContext } from '../../../client/support/context.ts';
import { startServer } from '../../../client/support/scripted-server.ts';

const found = { authorizationServer: { scopes_supported: ['openid', 'read'] } } as DiscoveredServer;
const refused = new ClientError('authorization_denied', 'It ended the login: "invalid_scope".');

describe('a hint at a login that failed', () => {
  it('names the scopes there are', async () => {
    expect(await hintAtLogin(refused, 'https://x/mcp', found, fetch)).toBe(
      'Scopes this server names: openid read',
    );
    const unknown = { authorizationServer: {} } as DiscoveredServer;
    expect(await hintAtLogin(refused, 'https://x/mcp', unknown, fetch)).toBeUndefined();
  });

  it.each(['refused: "invalid_target".', 'refused: "invalid_request" ("AADSTS9010010: The resource ...").'])(
    'names the way out where the resource parameter is %s (CL-5)',
    async (message) => {
      const error = new ClientError('authorization_denied', message);
      expect(await hintAtLogin(error, 'https://x/mcp', found, fetch)).toContain('--no-resource');
    },
  );

  it('names the URL that was meant, where nothing was found at the one given', async () => {
    const server = await startServer({
      'POST /mcp': { status: 401, headers: { 'www-authenticate': 'Bearer' } },
    });
    const error = new ClientError('not_protected', 'x');
    expect(await hintAtLogin(error, `${server.origin}/`, undefined, fetch)).toMatch(
      new RegExp(`^Did you mean ${server.origin}/mcp\\? Run: .* login ${server.origin}/mcp$`),
    );
    expect(await hintAtLogin(error, `${server.origin}/`, found, fetch)).toBeUndefined();
  });

  it('names the URL that the metadata is for, and who runs the server comes last', async () => {
    const challenge = { status: 401, headers: { 'www-authenticate': 'Bearer' } };
    const server = await startServer({ 'POST /mcp': challenge, 'POST /tools/mcp': challenge });
    const meant = `${server.origin}/tools/mcp`;
    server.routes['GET /.well-known/oauth-protected-resource'] = {
      json: { resource: meant, authorization_servers: [server.origin] },
    };
    const url = `${server.origin}/tools/mistyped/mcp`;
    const error = await discover(testContext(), url).catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(/\. Look at the URL that was given; .* publish it as "resource"\.$/);
    expect(await hintAtLogin(error, url, undefined, fetch)).toMatch(
      new RegExp(`^Did you mean ${meant}\\? Run: .* login ${meant}$`),
    );
  });

  it.each([new ClientError('unreachable', 'x'), new ClientError('login_timed_out', 'x'), new Error('x')])(
    'is not looked for after %s',
    async (error) => {
      const server = await startServer();
      expect(await hintAtLogin(error, `${server.origin}/`, undefined, fetch)).toBeUndefined();
      expect(server.requests).toEqual([]);
    },
  );
});

describe('a warning of scopes', () => {
  const server = {
    authorizationServer: { scopes_supported: ['openid', 'offline_access'] },
    protectedResource: { scopes_supported: ['read'] },
    challengedScopes: ['challenged'],
  } as unknown as DiscoveredServer;

  it('names those the server does not, and those it does', () => {
    expect(warnOfScopes(server, ['read', 'bogus'])).toBe(
      'This server does not name the scope bogus. It names: read',
    );
  });

  it.each([
    ['for what it names anywhere', server, ['read', 'openid', 'challenged']],
    ['where none are asked for', server, undefined],
    ['where it names none', { authorizationServer: {} } as DiscoveredServer, ['bogus']],
  ])('is not given %s (A8-06)', (_, of, scopes) => {
    expect(warnOfScopes(of, scopes)).toBeUndefined();
  });
});
