// The clients that bind their tokens to a key, against a gatehouse.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Client,
  DpopSession,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { decide } from '../../support/person.ts';
import { structured } from './support/answers.ts';
import { commandLineUser } from './support/command-line-user.ts';
import { createMemoryProvider } from './support/oauth-provider.ts';

describe.each([
  ['nonces are offered', false],
  ['each proof needs a nonce', true],
])('where %s', (_what, requireNonce) => {
  let gatehouse: RunningGatehouse;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-dpop-'));
    gatehouse = await startGatehouse({ tokens: { dpop: { required: true, requireNonce } } });
  });
  afterAll(async () => {
    await gatehouse.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(['legacy', { pin: '2026-07-28' }] as const)(
    'the SDK with a DpopSession logs in, calls, and is the only holder of its token: %j (A13-09)',
    async (mode) => {
      const memory = createMemoryProvider<
        StoredOAuthClientInformation,
        StoredOAuthTokens,
        OAuthDiscoveryState
      >('An app with a key');
      const session = DpopSession.create();
      const provider = { ...memory, dpop: () => session };
      const create = () => new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      const open = () =>
        new StreamableHTTPClientTransport(new URL(gatehouse.mcpUrl), { authProvider: provider });
      const refused = open();
      await expect(create().connect(refused)).rejects.toThrow(UnauthorizedError);
      await refused.finishAuth((await decide(memory.authorizationUrl())).searchParams);
      expect(memory.tokens()?.token_type).toBe('DPoP');
      const client = create();
      await client.connect(open());
      expect(structured(await client.callTool({ name: 'whoami' }))).toMatchObject({
        client: memory.clientInformation()?.client_id,
      });
      await client.close();
      const stolen = { authorization: `Bearer ${memory.tokens()?.access_token}` };
      expect((await fetch(gatehouse.mcpUrl, { method: 'POST', headers: stolen })).status).toBe(401);
    },
  );

  it('our own client sees that it needs a key, logs in and calls with it (A13-09)', async () => {
    const user = commandLineUser(gatehouse.mcpUrl, folder);
    const { code, stderr } = await user.login();
    expect(code, stderr).toBe(0);
    expect((await user.answerOf('whoami')).scopes).toEqual(['notes:read', 'notes:write']);
    const kept = await readFile(join(folder, 'tokens.json'), 'utf8');
    const [, token = ''] = /"accessToken": "([^"]+)"/.exec(kept) ?? [];
    const stolen = { authorization: `Bearer ${token}` };
    expect((await fetch(gatehouse.mcpUrl, { method: 'POST', headers: stolen })).status).toBe(401);
  });
});
