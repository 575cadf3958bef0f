import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createBrowserStub } from '../../support/browser-stub.ts';
import { decide } from '../../support/person.ts';
import { runGatehouse, serveGatehouse } from '../../support/served.ts';
import { placeOf } from '../../support/test-storage.ts';
import { structured } from './support/answers.ts';
import { bringAnswer, startBridge } from './support/bridge.ts';

it('mcp-remote whose client was removed registers anew by itself, and its person logs in once more (T-066)', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-mcp-remote-removed-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const served = await serveGatehouse();
  onTestFinished(() => served.stop());
  const data = await placeOf(served.folder);
  const ids: string[] = [];
  for (let round = 0; round < 2; round++) {
    const browser = await createBrowserStub(join(folder, `browser-${round}`));
    const { client, connect, said } = startBridge(served.mcpUrl, folder, browser);
    const connected = connect();
    connected.catch(() => undefined);
    const url = await Promise.race([
      browser.opened(),
      connected.then(() => Promise.reject(new Error(`connected without a login: ${said()}`))),
    ]);
    expect((await bringAnswer(await decide(url))).status, said()).toBe(200);
    await connected;
    expect(structured(await client.callTool({ name: 'whoami' })).scopes).toContain('notes:read');
    await client.close();
    const id = new URL(url).searchParams.get('client_id') ?? '';
    ids.push(id);
    expect((await runGatehouse(['client', 'remove', id, ...data])).code).toBe(0);
  }
  expect(new Set(ids).size).toBe(2);
});
