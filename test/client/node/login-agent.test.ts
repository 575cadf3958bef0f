import { getEventListeners } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type LoginAgentOptions, openLoginAgent } from '../../../src/client/node/login-agent.ts';
import { testContext } from '../support/context.ts';
import { startServer } from '../support/scripted-server.ts';

async function setUp(options: Partial<LoginAgentOptions> = {}) {
  const server = await startServer({ 'GET /authorize': { text: '<form>' } });
  const opened: string[] = [];
  const open = (url: string): void => void opened.push(url);
  const agent = await openLoginAgent(testContext(), { open, timeoutMs: 5_000, ...options });
  onTestFinished(() => agent.close());
  const request = { url: `${server.origin}/authorize?x=1`, state: 's' };
  const answer = (code: string): string => `${agent.redirectUri}?code=${code}&state=s`;
  return { server, agent, request, opened, answer };
}

const isClosed = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => false,
    () => true,
  );

function pasteTerminal() {
  const input = new PassThrough();
  return { input, isTerminal: false, say: () => undefined };
}

describe('a person is taken through a login', () => {
  it('by the browser of this machine; pasting ends then (CL-6)', async () => {
    const paste = pasteTerminal();
    let page: Promise<Response> | undefined;
    const open = async (): Promise<void> => {
      page = fetch(answer('browser'));
      await page;
    };
    const { agent, request, answer } = await setUp({ open, paste });
    expect((await agent.receive(request)).get('code')).toBe('browser');
    expect(paste.input.listenerCount('data')).toBe(0);
    await agent.close('failed');
    expect(await (await page)?.text()).toContain('Not logged in');
    await agent.close();
    expect(await isClosed(agent.redirectUri)).toBe(true);
  });

  it('by what they paste; the listener is closed then (CL-6, T-187)', async () => {
    const paste = pasteTerminal();
    const { agent, request, answer } = await setUp({ paste });
    const received = agent.receive(request);
    paste.input.write(`${answer('pasted')}\n`);
    expect((await received).get('code')).toBe('pasted');
    expect(await isClosed(agent.redirectUri)).toBe(true);
  });

  it('by the browser where nothing can be pasted any more', async () => {
    const paste = pasteTerminal();
    paste.input.end();
    const open = async (): Promise<void> => void setTimeout(() => void fetch(answer('late')), 30);
    const { agent, request, answer } = await setUp({ open, paste });
    expect((await agent.receive(request)).get('code')).toBe('late');
  });

  it('a second time, with the same redirect URI', async () => {
    const open = async (): Promise<void> => void (await fetch(answer('again')));
    const { agent, request, answer } = await setUp({ open });
    for (const _ of [1, 2]) expect((await agent.receive(request)).get('code')).toBe('again');
  });
});

describe('nobody waits in vain', () => {
  it('where the server refuses the request anyhow: no browser opens', async () => {
    const { server, agent, request, opened } = await setUp();
    const location = `${agent.redirectUri}?error=invalid_scope&state=s`;
    server.routes['GET /authorize'] = { status: 302, headers: { location }, text: '' };
    expect((await agent.receive(request)).get('error')).toBe('invalid_scope');
    expect(opened).toEqual([]);
  });

  it('longer than the time that is given', async () => {
    const { agent, request } = await setUp({ timeoutMs: 30, paste: pasteTerminal() });
    await expect(agent.receive(request)).rejects.toMatchObject({ reason: 'login_timed_out' });
  });

  it('where the waiting is ended: nothing listens or reads any more', async () => {
    const stop = new AbortController();
    const paste = pasteTerminal();
    const { agent, request } = await setUp({ paste, signal: stop.signal, open: () => stop.abort() });
    for (const _ of ['while it waits', 'before it begins'])
      await expect(agent.receive(request)).rejects.toMatchObject({ name: 'AbortError' });
    expect(paste.input.listenerCount('data')).toBe(0);
    expect(await isClosed(agent.redirectUri)).toBe(true);
  });

  it('where the URL cannot be opened: all is closed', async () => {
    const open = (): Promise<void> => Promise.reject(new Error('no browser'));
    const { signal } = new AbortController();
    const { agent, request } = await setUp({ open, signal });
    await expect(agent.receive(request)).rejects.toThrow('no browser');
    expect(await isClosed(agent.redirectUri)).toBe(true);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
