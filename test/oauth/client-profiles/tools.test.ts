import { readFileSync } from 'node:fs';
import {
  auth as authV2,
  extractWWWAuthenticateParams,
  type OAuthClientProvider as ProviderV2,
} from '@modelcontextprotocol/client';
import {
  auth as authV1,
  type OAuthClientProvider as ProviderV1,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { describe, expect, it } from 'vitest';
import {
  copilotCli,
  geminiCli,
  inspector,
  mcpRemote,
  pythonSdk,
  sdkV1,
  sdkV2,
} from '../../../src/oauth/client-profiles/tools.ts';
import { walked } from '../../doctor/profiles/walked.ts';
import { type Fault, startServer } from '../../doctor/support/server.ts';

describe('tools', () => {
  it('come back to loopback', () => {
    for (const { redirectUri } of [copilotCli, geminiCli, inspector, mcpRemote])
      expect(['localhost', '127.0.0.1']).toContain(new URL(redirectUri).hostname);
  });

  it('differ: a page, a byte for byte comparison, a strict issuer', () => {
    expect(inspector.runsOn).toBe('page');
    expect(geminiCli).toMatchObject({ resource: 'exact', issuerAtRoot: true });
    expect(copilotCli.issuer).toBe('exact');
    expect(mcpRemote.issuer).toBe('unchecked');
  });
});

/** What a host gives its SDK; it remembers whether a login page was opened. */
function host(redirectUrl: string): ProviderV1 & ProviderV2 & { opened: boolean } {
  const kept: { client?: never } = {};
  const provider = {
    opened: false,
    redirectUrl,
    clientMetadata: {
      redirect_uris: [redirectUrl],
      client_name: 'A host',
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => kept.client,
    saveClientInformation: (client: never) => {
      kept.client = client;
    },
    tokens: () => undefined,
    saveTokens: () => undefined,
    redirectToAuthorization: () => {
      provider.opened = true;
    },
    saveCodeVerifier: () => undefined,
    codeVerifier: () => 'verifier',
  };
  return provider;
}

/** Whether the real SDK gets to the login page of a server with a fault. */
async function realWalk(version: 1 | 2, fault: Fault | undefined): Promise<boolean> {
  const { url } = await startServer(fault === undefined ? {} : { fault });
  const provider = host('http://localhost:8090/callback');
  const refusal = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(refusal);
  const options = {
    serverUrl: url,
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
    ...(scope === undefined ? {} : { scope }),
  };
  await (version === 1 ? authV1(provider, options) : authV2(provider, options)).catch(() => undefined);
  return provider.opened;
}

const resource = 'GET /.well-known/oauth-protected-resource/mcp';
const issuer = 'GET /.well-known/oauth-authorization-server';

const faults: [string, Fault | undefined][] = [
  ['that is sound', undefined],
  [
    'whose resource is another',
    (server) => server.publish(resource, { resource: 'https://other.example/mcp' }),
  ],
  [
    'whose resource is its origin',
    (server) => {
      server.rules.checksResource = false;
      server.publish(resource, { resource: server.origin });
    },
  ],
  [
    'whose authorization server has no metadata',
    (server) => {
      for (const name of Object.keys(server.routes))
        if (/oauth-authorization-server|openid-configuration/.test(name)) delete server.routes[name];
    },
  ],
  [
    'without metadata of the resource',
    (server) => {
      for (const name of Object.keys(server.routes))
        if (name.includes('oauth-protected-resource')) delete server.routes[name];
    },
  ],
  ['whose resource has a slash more', (server) => server.publish(resource, { resource: `${server.url}/` })],
  [
    'whose challenge names a place that is empty',
    (server) =>
      server.change('POST /mcp', (reply) => ({
        ...reply,
        headers: { 'www-authenticate': `Bearer resource_metadata="${server.origin}/nowhere"` },
      })),
  ],
  ['whose issuer has a slash more', (server) => server.publish(issuer, { issuer: `${server.origin}/` })],
  ['whose issuer is another', (server) => server.publish(issuer, { issuer: 'https://other.example' })],
  ['that lists no PKCE', (server) => server.publish(issuer, { code_challenge_methods_supported: undefined })],
  [
    'that lists other PKCE',
    (server) => server.publish(issuer, { code_challenge_methods_supported: ['plain'] }),
  ],
  ['that registers nobody', (server) => server.publish(issuer, { registration_endpoint: undefined })],
  [
    'whose registration is refused',
    (server) =>
      server.change('POST /register', () => ({ status: 400, json: { error: 'invalid_client_metadata' } })),
  ],
];

describe('the profile of the TypeScript SDK', () => {
  it.each(
    faults.flatMap(([what, fault]) => ([1, 2] as const).map((version) => [version, what, fault] as const)),
  )('v%i says of a server %s what the real SDK does', async (version, _what, fault) => {
    const opened = await realWalk(version, fault);
    const { finding } = await walked([`sdk-v${version}`], {
      active: true,
      ...(fault === undefined ? {} : { fault }),
    });
    expect({ said: finding.verdict, why: finding.saw }).toEqual({
      said: opened ? 'pass' : 'fail',
      why: finding.saw,
    });
  });

  it('is of the versions this project is tested with', () => {
    const versionOf = (name: string): string =>
      (JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as { version: string }).version;
    expect(sdkV1.observed).toBe(versionOf('@modelcontextprotocol/sdk'));
    expect(sdkV2.observed).toBe(versionOf('@modelcontextprotocol/client'));
  });
});

describe('the profile of the Python SDK', () => {
  it('differs from that of TypeScript in what its source says', () => {
    expect(pythonSdk).toMatchObject({ issuer: 'exact', pkce: 'unread', challengeDecides: false });
  });
});
