// Each tolerance of src/oauth/tolerances.ts over a real server, on and off. Flows of
// src/authorization-server/tolerances.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ToleranceName, toleranceNames } from '../../../src/oauth/tolerances.ts';
import { type DocumentHost, startDocumentHost, trustDocumentHosts } from '../../support/document-host.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import {
  approve,
  authorization,
  obtainTokens,
  redeem,
  redirectUri,
  refresh,
  register,
  tryAccess,
} from '../../support/oauth.ts';
import { shownCode } from '../../support/refusal.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { createVisitor } from '../../support/visitor.ts';

let host: DocumentHost;
beforeAll(async () => {
  trustDocumentHosts();
  host = await startDocumentHost();
});
afterAll(() => host.stop());

/** What came of it: 'taken', or what was said against it. */
type Outcome = string;
type Quirk = (at: RunningGatehouse) => Promise<Outcome>;

/** Registers, and says which error there was. */
async function tryRegistration(at: RunningGatehouse, metadata: Record<string, unknown>): Promise<Outcome> {
  const response = await fetch(`${at.url}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      redirect_uris: [redirectUri],
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      ...metadata,
    }),
  });
  const body = (await response.json()) as { error?: string; client_secret?: string };
  if (response.status === 201) return body.client_secret === undefined ? 'taken' : 'with a secret';
  return `${response.status} ${body.error}`;
}

/** Begins to authorize, and says whether a page to log in came, or which error. */
async function tryAuthorization(
  at: RunningGatehouse,
  clientId: string,
  parameters: Record<string, string | undefined>,
): Promise<Outcome> {
  const page = await createVisitor().open(authorization(at, clientId, parameters).url);
  if (page.html.includes('name="password"')) return 'taken';
  return `${page.response.status} ${shownCode(page.html)}`;
}

async function tryPath(at: RunningGatehouse, path: string, init: RequestInit = {}): Promise<Outcome> {
  const response = await fetch(new URL(path, at.url), init);
  await response.body?.cancel();
  return response.status === 404 ? '404' : 'taken';
}

const anyClient = async (at: RunningGatehouse): Promise<string> => (await register(at.url)).client_id;

/** The whole way with a resource in the client's own spelling; what the MCP endpoint says of the token. */
async function withResource(at: RunningGatehouse, resource: string): Promise<Outcome> {
  const clientId = await anyClient(at);
  const began = await tryAuthorization(at, clientId, { resource });
  if (began !== 'taken') return began;
  const flow = authorization(at, clientId, { resource });
  const code = (await approve(flow)).searchParams.get('code') ?? '';
  const response = await redeem(at.url, flow, code, { resource });
  const tokens = (await response.json()) as { access_token: string };
  return (await tryAccess(at.mcpUrl, tokens.access_token)) === 200 ? 'taken' : 'another audience';
}

/** For each tolerance its quirk, and what comes of it where it is off. */
const quirks: Record<ToleranceName, { quirk: Quirk; off: Outcome }> = {
  repeatedRefresh: {
    async quirk(at) {
      const { clientId, tokens } = await obtainTokens(at);
      await refresh(at.url, clientId, tokens.refresh_token);
      const again = await refresh(at.url, clientId, tokens.refresh_token);
      return again.status === 200 ? 'taken' : ((await again.json()) as { error: string }).error;
    },
    off: 'invalid_grant',
  },
  unaskedRefreshToken: {
    async quirk(at) {
      const { tokens } = await obtainTokens(at);
      return tokens.refresh_token === undefined ? 'no refresh token' : 'taken';
    },
    off: 'no refresh token',
  },
  localhostPort: {
    async quirk(at) {
      const client = await register(at.url, { redirect_uris: ['http://localhost/callback'] });
      return tryAuthorization(at, client.client_id, { redirect_uri: 'http://localhost:49152/callback' });
    },
    off: '400 invalid_redirect_uri',
  },
  applicationType: {
    quirk: (at) => tryRegistration(at, { application_type: undefined, redirect_uris: ['cursor://callback'] }),
    off: '400 invalid_redirect_uri',
  },
  unnamedAuthMethod: {
    quirk: (at) => tryRegistration(at, { token_endpoint_auth_method: undefined }),
    off: 'with a secret',
  },
  authMethodChoices: {
    quirk: (at) =>
      tryAuthorization(
        at,
        host.publish('/chooser.json', {
          token_endpoint_auth_method: 'private_key_jwt',
          token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
        }),
        { redirect_uri: 'http://localhost:49152/callback' },
      ),
    off: '400 invalid_client',
  },
  registeredScope: {
    quirk: (at) => tryRegistration(at, { scope: 'elsewhere:read' }),
    off: '400 invalid_client_metadata',
  },
  registeredGrantTypes: {
    quirk: (at) => tryRegistration(at, { grant_types: ['authorization_code', 'urn:example:other'] }),
    off: '400 invalid_client_metadata',
  },
  emptyMembers: {
    quirk: (at) => tryRegistration(at, { client_uri: null }),
    off: '400 invalid_client_metadata',
  },
  missingScope: {
    quirk: async (at) => tryAuthorization(at, await anyClient(at), { scope: undefined }),
    off: '400 invalid_scope',
  },
  missingResource: {
    quirk: async (at) => tryAuthorization(at, await anyClient(at), { resource: undefined }),
    off: '400 invalid_target',
  },
  resourceSpelling: {
    quirk: (at) => withResource(at, `${at.mcpUrl.replace('http:', 'HTTP:')}/`),
    off: '400 invalid_target',
  },
  shortenedResource: {
    quirk: (at) => withResource(at, new URL(at.url).origin),
    off: '400 invalid_target',
  },
  joinedResources: {
    quirk: (at) => withResource(at, `${at.mcpUrl},${at.mcpUrl}/`),
    off: '400 invalid_target',
  },
  discoveryAliases: {
    quirk: (at) => tryPath(at, '/tools/mcp/.well-known/oauth-authorization-server'),
    off: '404',
  },
  defaultEndpoints: {
    quirk: (at) => tryPath(at, '/token', { method: 'POST' }),
    off: '404',
  },
  trailingSlash: {
    quirk: (at) => tryPath(at, '/tools/mcp/', { method: 'POST' }),
    off: '404',
  },
};

async function outcomeWith(
  name: ToleranceName,
  tolerances: Partial<Record<ToleranceName, boolean>>,
): Promise<{ outcome: Outcome; noted: Record<string, unknown>[] }> {
  const at = await startGatehouse({
    publicPath: '/tools',
    clients: { tolerances },
    dangerously: { fetchFromLoopback: true },
  });
  try {
    const outcome = await quirks[name].quirk(at);
    const noted = at.log
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ tolerance }) => tolerance === name);
    return { outcome, noted };
  } finally {
    await at.stop();
  }
}

describe('a quirk of clients', () => {
  it.each(toleranceNames)(
    '%s is taken and logged with its reason; switched off, it is not taken',
    async (name) => {
      const on = await outcomeWith(name, {});
      expect(on.outcome).toBe('taken');
      expect(on.noted[0]).toMatchObject({ level: 'info', because: expect.stringMatching(/./) });

      const off = await outcomeWith(name, { [name]: false });
      expect(off).toEqual({ outcome: quirks[name].off, noted: [] });
    },
  );

  it('is logged with the client it is of, at info once', async () => {
    const at = await startGatehouse();
    try {
      const clientId = await anyClient(at);
      for (let time = 0; time <= nodeCount; time++)
        await tryAuthorization(at, clientId, { resource: `${at.mcpUrl}/` });
      const noted = at.log
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ tolerance }) => tolerance === 'resourceSpelling');
      expect(noted.map(({ clientId: of }) => of)).toEqual(Array(nodeCount + 1).fill(clientId));
      const levels = noted.map(({ level }) => level);
      expect([levels[0], levels.includes('debug')]).toEqual(['info', true]);
      expect(levels.filter((level) => level === 'info').length).toBeLessThanOrEqual(nodeCount);
    } finally {
      await at.stop();
    }
  });

  it('of a request that is refused all the same is not logged: anybody can send one (T-195)', async () => {
    const at = await startGatehouse();
    try {
      await tryAuthorization(at, 'client_unknown', { resource: `${at.mcpUrl}/`, scope: undefined });
      expect(at.log.filter((line) => line.includes('"tolerance"'))).toEqual([]);
    } finally {
      await at.stop();
    }
  });
});
