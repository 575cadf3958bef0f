import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openLoopback } from '../../../src/client/node/index.ts';

async function open() {
  const listener = await openLoopback();
  onTestFinished(() => listener.close());
  return listener;
}

/** Sends a request with any method and Host. */
function send(
  url: string,
  options: { method?: string; host?: string } = {},
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', host } = options;
    const sent = request(
      url,
      { method, ...(host === undefined ? {} : { headers: { host } }) },
      (response) => {
        let body = '';
        response.on('data', (chunk) => {
          body += String(chunk);
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      },
    );
    sent.on('error', reject);
    sent.end();
  });
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

  it('takes one redirect, says that the tab can be closed, and is gone (T-187)', async () => {
    const { redirectUri, receive } = await open();
    const received = receive('s');
    const { status, body } = await send(`${redirectUri}?code=c&state=s&iss=i`);
    expect(status).toBe(200);
    expect(body).toContain('You can close this tab');
    expect(Object.fromEntries(await received)).toEqual({ code: 'c', state: 's', iss: 'i' });
    expect(await refusedConnection(`${redirectUri}?code=c&state=s`)).toBe(true);
  });

  it.each([
    ['no state', '?code=c', {}, 400],
    ['another state', '?code=c&state=other', {}, 400],
    ['two states', '?code=c&state=s&state=s', {}, 400],
    ['POST', '?code=c&state=s', { method: 'POST' }, 405],
    ['HEAD', '?code=c&state=s', { method: 'HEAD' }, 405],
    ['a foreign Host', '?code=c&state=s', { host: 'evil.example' }, 421],
    ['a Host without the port', '?code=c&state=s', { host: '127.0.0.1' }, 421],
    ['another path', '/more?code=c&state=s', {}, 404],
    ['a huge query', `?code=${'c'.repeat(20_000)}&state=s`, {}, 431],
  ])('refuses %s and goes on waiting (A6-04, T-187)', async (_, tail, options, status) => {
    const { redirectUri, receive } = await open();
    const received = receive('s');
    const refused = await send(redirectUri + tail, options);
    expect(refused.status).toBe(status);
    expect(refused.body).not.toContain('close this tab');
    await send(`${redirectUri}?code=right&state=s`, { host: `localhost:${new URL(redirectUri).port}` });
    expect((await received).get('code')).toBe('right');
  });

  it('repeats nothing of an error answer: it may be forged (A6-10, T-187)', async () => {
    const { redirectUri, receive } = await open();
    const received = receive('s');
    const { body } = await send(`${redirectUri}?error=boo&error_description=%3Cscript%3Epay&state=s`);
    expect(body).not.toMatch(/boo|script|pay/);
    expect(body).toContain('Not logged in');
    expect((await received).get('error')).toBe('boo');
  });

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
