import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BrowserStub, createBrowserStub } from '../../support/browser-stub.ts';
import { decide } from '../../support/person.ts';
import { type Served, serveGatehouse } from '../../support/served.ts';
import { structured, textsOf } from './support/answers.ts';
import { bringAnswer, startBridge } from './support/bridge.ts';

let served: Served;
let folder: string;
let browser: BrowserStub;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-mcp-remote-'));
  browser = await createBrowserStub(folder);
  served = await serveGatehouse();
});
afterAll(async () => {
  await served.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('mcp-remote, given nothing but the MCP URL', () => {
  it('opens the browser, and carries a desktop host through to the tools', async () => {
    const { client, connect, said } = startBridge(served.mcpUrl, folder, browser);
    const connected = connect();
    connected.catch(() => undefined);
    const url = await Promise.race([
      browser.opened(),
      connected.then(() => Promise.reject(new Error(`connected without a login: ${said()}`))),
    ]);
    const page = await bringAnswer(await decide(url));
    expect(page.status, said()).toBe(200);
    await connected;

    expect(structured(await client.callTool({ name: 'whoami' })).scopes).toEqual([
      'notes:read',
      'notes:write',
    ]);
    const text = 'From a desktop host';
    structured(await client.callTool({ name: 'add_note', arguments: { text } }));
    expect(textsOf(await client.callTool({ name: 'search_notes', arguments: { query: 'desktop' } }))).toEqual(
      [text],
    );
    await client.close();
  });

  it.each([['legacy'], ['auto']])('starts again without a login, protocol %s', async (protocol) => {
    const { client, connect, said } = startBridge(served.mcpUrl, folder, browser, ['--protocol', protocol]);
    await connect();
    expect(textsOf(await client.callTool({ name: 'search_notes', arguments: { query: 'desktop' } }))).toEqual(
      ['From a desktop host'],
    );
    expect(said()).not.toContain('Please authorize');
    await client.close();
  });
});
