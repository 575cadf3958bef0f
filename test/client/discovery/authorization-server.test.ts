import { describe, expect, it } from 'vitest';
import { requireUsableAuthorizationServer } from '../../../src/client/discovery/authorization-server.ts';
import { discover } from '../../../src/client/index.ts';
import { testContext } from '../support/context.ts';
import { serverMetadata, startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';
import { startServer } from '../support/scripted-server.ts';

const oauthForm = 'GET /.well-known/oauth-authorization-server';
const rules = { rules: {}, allowedOrigins: [] };

/** An MCP server that names an issuer which a scripted server answers for. */
async function startWithIssuer(path: string, documents: (issuer: string) => Record<string, unknown>) {
  const as = await startAuthorizationServer();
  const mcp = await startMcpServer(as);
  const issuer = `${as.origin}${path}`;
  mcp.routes['GET /.well-known/oauth-protected-resource/mcp'] = {
    json: { resource: mcp.url, authorization_servers: [issuer] },
  };
  delete as.routes[oauthForm];
  for (const [route, json] of Object.entries(documents(issuer))) as.routes[route] = { json };
  return { as, mcp, issuer };
}

describe('authorization server metadata', () => {
  it('of an issuer without a path is asked for in two places (A4-02)', async () => {
    const { as, mcp } = await startWithIssuer('', (issuer) => ({
      'GET /.well-known/openid-configuration': serverMetadata(issuer),
    }));
    await discover(testContext(), mcp.url);
    expect(as.asked()).toEqual([oauthForm, 'GET /.well-known/openid-configuration']);
  });

  it('of an issuer with a path is asked for in three places, never at the bare root (A4-03)', async () => {
    const { as, mcp, issuer } = await startWithIssuer('/tenant1', (tenant) => ({
      'GET /tenant1/.well-known/openid-configuration': serverMetadata(tenant),
    }));
    const found = await discover(testContext(), mcp.url);
    expect(found.authorizationServer.issuer).toBe(issuer);
    expect(as.asked()).toEqual([
      'GET /.well-known/oauth-authorization-server/tenant1',
      'GET /.well-known/openid-configuration/tenant1',
      'GET /tenant1/.well-known/openid-configuration',
    ]);
  });

  it('is not assumed where the named server publishes none: only a 2025-03-26 origin has default paths (T-183)', async () => {
    const { as, mcp } = await startWithIssuer('', () => ({}));
    await expect(discover(testContext(), mcp.url)).rejects.toMatchObject({ reason: 'no_metadata' });
    expect(as.asked()).not.toContain('POST /register');
  });

  it.each([
    ['two slashes at its end', (origin: string) => `${origin}//`],
    ['upper case', (origin: string) => origin.replace('http', 'HTTP')],
    ['another port', (origin: string) => `${origin}1`],
  ])('with %s in the issuer is refused, and both strings are shown (A4-04, T-183)', async (_, change) => {
    const { mcp, as } = await startWithIssuer('', (issuer) => ({
      [oauthForm]: serverMetadata(issuer, { issuer: change(issuer) }),
    }));
    const error = await discover(testContext(), mcp.url).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: 'issuer_mismatch' });
    expect(String(error)).toContain(`expected "${as.origin}", found "${change(as.origin)}"`);
    expect(String(error)).toContain('they differ at character');
    expect(as.asked()).toEqual([oauthForm]);
  });

  it.each([
    ['', '/'],
    ['/', ''],
    ['/tenant', '/tenant/'],
    ['/tenant/', '/tenant'],
  ])(
    'of the issuer %j that writes it %j is its own, and the spelling of the metadata counts (FA-49)',
    async (asked, named) => {
      const { mcp, as } = await startWithIssuer(asked, (issuer) => {
        const origin = new URL(issuer).origin;
        return {
          [`${oauthForm}${asked.replace(/\/$/, '')}`]: serverMetadata(origin, {
            issuer: `${origin}${named}`,
          }),
        };
      });
      const found = await discover(testContext(), mcp.url);
      expect(found.authorizationServer.issuer).toBe(`${as.origin}${named}`);
      expect(found.trace.at(-1)).toMatchObject({ verdict: 'taken', tolerated: ['issuerSlash'] });
    },
  );

  it('without an issuer is not used, and the sentence says so (FA-26, T-183)', async () => {
    const { mcp } = await startWithIssuer('', (issuer) => ({
      [oauthForm]: serverMetadata(issuer, { issuer: null }),
    }));
    const error = await discover(testContext(), mcp.url).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: 'bad_metadata' });
    expect(String(error)).toContain('a document without "issuer"');
  });

  it('of Google has its token endpoint at googleapis.com, and of others not (FA-49, T-183)', () => {
    const judge = (issuer: string) => {
      const noted: string[] = [];
      const document = serverMetadata(issuer, { token_endpoint: 'https://oauth2.googleapis.com/token' });
      const walk = { ...rules, note: ({ tolerance }: { tolerance: string }) => void noted.push(tolerance) };
      requireUsableAuthorizationServer(walk, document, issuer);
      return noted;
    };
    expect(judge('https://accounts.google.com')).toEqual(['providerEndpoints']);
    expect(() => judge('https://accounts.google.com.evil.example')).toThrow(/on another origin/);
    expect(() => judge('https://as.example')).toThrow(/on another origin/);
  });

  it.each([[undefined], [[]], [['plain']], ['plain']])(
    'with %j as code_challenge_methods_supported is refused (A4-06, T-183)',
    async (methods) => {
      const { mcp } = await startWithIssuer('', (issuer) => ({
        [oauthForm]: serverMetadata(issuer, { code_challenge_methods_supported: methods }),
      }));
      await expect(discover(testContext(), mcp.url)).rejects.toMatchObject({
        reason: 'no_pkce',
        trace: expect.arrayContaining([expect.objectContaining({ verdict: 'refused' })]),
      });
    },
  );

  it.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'http://x/$(calc)',
    'https://x/"&calc&"',
    '--flag',
    'https://x/\ny',
    'https://user:pass@x/authorize',
    'https://x/authorize#fragment',
    '',
    7,
    undefined,
  ])('with authorization_endpoint %j is refused (T-182)', (endpoint) => {
    const document = serverMetadata('https://as.example', { authorization_endpoint: endpoint });
    expect(() => requireUsableAuthorizationServer(rules, document, 'https://as.example')).toThrow(
      /authorization_endpoint .* is (?:refused|missing)/,
    );
  });

  it.each([
    'token_endpoint',
    'registration_endpoint',
    'revocation_endpoint',
    'device_authorization_endpoint',
  ])('with its %s on another origin is refused unless that origin is allowed (T-183)', (member) => {
    const document = serverMetadata('https://as.example', { [member]: 'https://tokens.example/x' });
    const judge = (allowedOrigins: string[]) =>
      requireUsableAuthorizationServer({ rules: {}, allowedOrigins }, document, 'https://as.example');
    expect(() => judge([])).toThrow(/on another origin, https:\/\/tokens.example/);
    expect(judge(['https://tokens.example'])).toMatchObject({ [member]: 'https://tokens.example/x' });
  });

  it('with http endpoints elsewhere than on loopback is refused (T-183)', () => {
    const document = serverMetadata('https://as.example', { token_endpoint: 'http://as.example/token' });
    expect(() => requireUsableAuthorizationServer(rules, document, 'https://as.example')).toThrow(
      /use https/,
    );
  });

  it('at the origin of an old server that names another issuer is a copy: that issuer is asked itself (A2-02)', async () => {
    const as = await startAuthorizationServer();
    const old = await startServer({ 'POST /mcp': { status: 401, text: '' } });
    old.routes[oauthForm] = { json: serverMetadata(as.origin, { token_endpoint: `${old.origin}/steal` }) };
    const found = await discover(testContext(), `${old.origin}/mcp`);
    expect(found.authorizationServer).toMatchObject({
      issuer: as.origin,
      token_endpoint: `${as.origin}/token`,
    });
  });
});
