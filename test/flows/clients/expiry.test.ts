import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../../src/cli/cli-error.ts';
import { createBrowserStub } from '../../support/browser-stub.ts';
import { decide } from '../../support/person.ts';
import { type Served, serveGatehouse } from '../../support/served.ts';
import { structured } from './support/answers.ts';
import { startBridge } from './support/bridge.ts';
import { commandLineUser } from './support/command-line-user.ts';
import { connectSdkV1 } from './support/sdk-v1.ts';
import { connectSdkV2 } from './support/sdk-v2.ts';

const accessTokenSeconds = 2;
const expiry = (): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, (accessTokenSeconds + 1) * 1000));

let served: Served;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-expiry-'));
  served = await serveGatehouse([], { tokens: { accessTokenSeconds } });
});
afterAll(async () => {
  await served.stop();
  await rm(folder, { recursive: true, force: true });
});

describe.concurrent('when the access token has expired', () => {
  it.each([
    ['SDK v1', () => connectSdkV1(served.mcpUrl)],
    ['SDK v2, legacy', () => connectSdkV2(served.mcpUrl, 'legacy')],
    ['SDK v2, 2026-07-28', () => connectSdkV2(served.mcpUrl, { pin: '2026-07-28' })],
  ])('%s refreshes in the middle of its session, twice, and nobody has to log in', async (_name, connect) => {
    const { client, provider } = await connect();
    const asked = provider.authorizationUrl();
    const first = provider.tokens()?.access_token;
    for (let round = 0; round < 2; round++) {
      await expiry();
      expect(structured(await client.callTool({ name: 'whoami' })).client).toBe(
        provider.clientInformation()?.client_id,
      );
    }
    expect(provider.tokens()?.access_token).not.toBe(first);
    expect(provider.authorizationUrl()).toBe(asked);
    await client.close();
  });

  it('calls of one client that meet the expiry together all get through', async () => {
    const { client, provider } = await connectSdkV2(served.mcpUrl, { pin: '2026-07-28' });
    const asked = provider.authorizationUrl();
    await expiry();
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.callTool({ name: 'whoami' })));
    expect(answers.map((answer) => structured(answer).client)).toEqual(
      Array.from({ length: 5 }, () => provider.clientInformation()?.client_id),
    );
    expect(provider.authorizationUrl()).toBe(asked);
    await client.close();
  });

  it('five processes of the command line at once all get through, and stay logged in', async () => {
    const user = commandLineUser(served.mcpUrl, join(folder, 'five'));
    await user.login();
    for (let round = 0; round < 2; round++) {
      await expiry();
      const calls = await Promise.all(Array.from({ length: 5 }, () => user.call('whoami')));
      expect(calls.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
        Array.from({ length: 5 }, () => ({ code: exitCodes.ok, stderr: '' })),
      );
    }
  });

  it('mcp-remote refreshes in the middle of its session, and opens no browser', async () => {
    const browser = await createBrowserStub(folder);
    const { client, connect, said } = startBridge(served.mcpUrl, folder, browser);
    const connected = connect();
    await fetch(await decide(await browser.opened()));
    await connected;
    await expiry();
    expect(structured(await client.callTool({ name: 'whoami' })).scopes).toEqual([
      'notes:read',
      'notes:write',
    ]);
    expect(said().match(/Please authorize/g)).toHaveLength(1);
    await client.close();
  });
});
