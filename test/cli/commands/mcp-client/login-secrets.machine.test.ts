import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LoginCommandOptions } from '../../../../src/cli/commands/mcp-client/login-options.ts';
import { loginMachine, refuseMachineOptions } from '../../../../src/cli/commands/mcp-client/login-secrets.ts';
import { createMemoryStore, type GivenClient } from '../../../../src/client/index.ts';
import { testContext } from '../../../client/support/context.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { startAuthorizationServer, startMcpServer } from '../../../client/support/protected-server.ts';

async function setUp() {
  const as = await startAuthorizationServer();
  const mcp = await startMcpServer(as);
  as.routes['POST /token'] = { json: { access_token: 'at', token_type: 'Bearer', expires_in: 60 } };
  const store = createMemoryStore();
  const run = (options: LoginCommandOptions, client?: GivenClient) =>
    loginMachine(testContext(), mcp.url, options, { store, client, scopes: undefined });
  const sent = () => new URLSearchParams(as.requests.find(({ path }) => path === '/token')?.body);
  return { as, store, mcp, run, sent };
}

describe('a machine logs in as itself', () => {
  it('with client credentials (A13-02)', async () => {
    const { mcp, store, run, sent } = await setUp();
    await run({ grant: 'client_credentials' }, { clientId: 'ci', clientSecret: 's' });
    expect(sent().get('grant_type')).toBe('client_credentials');
    expect((await store.findCredential(mcp.url))?.accessToken).toBe('at');
  });

  it('with the token its platform put into a file (A13-10)', async () => {
    const { run, sent } = await setUp();
    const assertionFile = join(testFolder(), 'token');
    writeFileSync(assertionFile, 'workload.jwt.here\n');
    await run({ grant: 'workload_identity', assertionFile }, { clientId: 'ci' });
    expect(sent().get('assertion')).toBe('workload.jwt.here');
  });

  it('at the authorization server it belongs to only (A5-10, T-184)', async () => {
    const { as, run } = await setUp();
    const options = { grant: 'client_credentials', issuer: 'https://other.example' } as const;
    await expect(run(options, { clientId: 'ci', clientSecret: 's' })).rejects.toMatchObject({
      reason: 'authorization_server_changed',
    });
    expect(as.asked()).not.toContain('POST /token');
  });

  it.each([
    ['client_credentials', undefined, '--client-id'],
    ['client_credentials', { clientId: 'ci' }, '--private-key'],
    ['workload_identity', { clientId: 'ci' }, '--assertion-file'],
  ] as const)('by %s not without what it needs', async (grant, client, missing) => {
    const { as, run } = await setUp();
    await expect(run({ grant }, client)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(missing),
    });
    expect(as.requests).toEqual([]);
  });
});

describe('options of a machine', () => {
  it('are refused without a grant', () => {
    const options = { assertionFile: 'jwt' };
    expect(() => refuseMachineOptions(options)).toThrow(expect.objectContaining({ exitCode: 2 }));
    expect(() => refuseMachineOptions({ ...options, grant: 'workload_identity' })).not.toThrow();
  });
});
