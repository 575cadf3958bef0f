import { connect, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openLoopback } from '../../../src/client/node/index.ts';
import { hasIpv6, send } from '../support/browser-request.ts';

async function open(port?: number) {
  const listener = await openLoopback(port);
  onTestFinished(() => listener.close());
  return listener;
}

const refusedConnection = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => false,
    () => true,
  );

describe('the redirect listener', () => {
  it('listens on 127.0.0.1 on a port of its own (T-187)', async () => {
    const [one, two] = [await open(), await open()];
    expect(one.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(two.redirectUri).not.toBe(one.redirectUri);
    const { port } = new URL(one.redirectUri);
    const reached = await new Promise((resolve) => {
      const socket = connect({ host: '127.0.0.2', port: Number(port) });
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    expect(reached).toBe(false);
  });

  it.skipIf(!hasIpv6)('takes the redirect on ::1 of the same port as well (CL-7)', async () => {
    const { redirectUri, receive, close } = await open();
    const received = receive('s');
    const sent = send(`${redirectUri.replace('127.0.0.1', '[::1]')}?code=six&state=s`);
    expect((await received).get('code')).toBe('six');
    await close();
    expect((await sent).status).toBe(200);
    expect(await refusedConnection(redirectUri)).toBe(true);
  });

  it('listens on the port it is told, and says who holds it where it is taken (CL-4)', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const { port } = holder.address() as { port: number };
    await expect(open(port)).rejects.toMatchObject({
      reason: 'callback_port_unusable',
      message: expect.stringContaining(`Port ${port} of 127.0.0.1 is in use by `),
    });
    await expect(open(port)).rejects.toThrow(`(process ${process.pid})`);
    await new Promise((resolve) => holder.close(resolve));
    expect((await open(port)).redirectUri).toBe(`http://127.0.0.1:${port}/callback`);
  });

  it.skipIf(!hasIpv6)('works on 127.0.0.1 alone where a chosen port is taken on ::1', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen({ host: '::1', port: 0 }, resolve));
    const { port } = holder.address() as { port: number };
    onTestFinished(() => void holder.close());
    const { redirectUri, receive } = await open(port);
    const received = receive('s');
    void send(`${redirectUri}?code=four&state=s`);
    expect((await received).get('code')).toBe('four');
  });

  it('takes one redirect, says that the tab can be closed, and is gone when it is closed (T-187)', async () => {
    const { redirectUri, receive, close } = await open();
    const received = receive('s');
    const answered = send(`${redirectUri}?code=c&state=s&iss=i`);
    expect(Object.fromEntries(await received)).toEqual({ code: 'c', state: 's', iss: 'i' });
    await close();
    const { status, body } = await answered;
    expect([status, body.includes('You can close this tab')]).toEqual([200, true]);
    expect(await refusedConnection(`${redirectUri}?code=c&state=s`)).toBe(true);
  });

  it.each([
    [{ loggedInTo: 'https://x.dev/<mcp>' }, 'You are logged in to https://x.dev/&#60;mcp&#62;'],
    ['failed', 'Not logged in'],
  ] as const)(
    'says what came of the login (%j), also when it is loaded again, and then is gone (FA-30)',
    async (outcome, text) => {
      const { redirectUri, receive, finish } = await open();
      const received = receive('s');
      const [first, second] = [send(`${redirectUri}?code=c&state=s`), send(`${redirectUri}?code=c&state=s`)];
      expect((await received).get('code')).toBe('c');
      finish(outcome);
      for (const answer of [first, second, send(`${redirectUri}?code=other&state=s`)])
        expect((await answer).body).toContain(`<h1>${text}</h1>`);
      expect((await send(`${redirectUri}?code=c&state=other`)).status).toBe(400);
      await expect.poll(() => refusedConnection(redirectUri), { timeout: 10_000 }).toBe(true);
    },
    15_000,
  );

  it('refuses a redirect that nobody waits for yet', async () => {
    const { redirectUri } = await open();
    expect((await send(`${redirectUri}?code=c&state=undefined`)).status).toBe(400);
  });

  it('closes when nobody comes back in time (T-187)', async () => {
    const { redirectUri, receive } = await open();
    await expect(receive('s', 50)).rejects.toMatchObject({ reason: 'login_timed_out' });
    expect(await refusedConnection(redirectUri)).toBe(true);
  });
});
