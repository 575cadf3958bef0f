import { describe, expect, it } from 'vitest';
import { createKnownDevices } from '../../../src/authorization-server/authentication/known-device.ts';
import { serveSteps } from '../../support/koa-step.ts';

/** Serves a page that remembers the browser for ada, and one that says whether it is known for a name. */
async function serve(keys: string[]): Promise<string> {
  const devices = createKnownDevices(keys, 'http://127.0.0.1:3000');
  return serveSteps([
    (ctx) => {
      const email = String(ctx.query.email);
      if (ctx.path === '/remember') devices.remember(ctx, email);
      ctx.body = devices.find(ctx, email) ?? 'unknown';
    },
  ]);
}

async function remembered(url: string, email: string): Promise<string> {
  const response = await fetch(`${url}/remember?email=${email}`);
  return response.headers.getSetCookie()[0] ?? '';
}

const ask = async (url: string, email: string, cookie: string): Promise<string> =>
  (await fetch(`${url}/?email=${email}`, { headers: { cookie } })).text();

describe('a browser in which somebody has logged in', () => {
  it('is known for that account, in any case, and for no other (T-117)', async () => {
    const url = await serve(['key']);
    const cookie = (await remembered(url, 'Ada@example.com')).split(';')[0] ?? '';
    expect(await ask(url, 'ada@example.com', cookie)).toMatch(/^[\w-]{22}$/);
    expect(await ask(url, 'eve@example.com', cookie)).toBe('unknown');
    expect(await ask(url, 'ada@example.com', '')).toBe('unknown');
  });

  it('cannot be made up: not with a changed name, not with another key (T-117)', async () => {
    const url = await serve(['key']);
    const cookie = (await remembered(url, 'ada')).split(';')[0] ?? '';
    const [name, value = ''] = cookie.split('=');
    const [, proof] = value.split('.');
    for (const forged of [`other.${proof}`, `.${proof}`, value.slice(0, -1), '.', ''])
      expect(await ask(url, 'ada', `${name}=${forged}`)).toBe('unknown');
    expect(await ask(await serve(['another']), 'ada', cookie)).toBe('unknown');
    expect(await ask(await serve(['new', 'key']), 'ada', cookie)).not.toBe('unknown');
  });

  it('is remembered in a cookie that no script reads (T-121)', async () => {
    expect(await remembered(await serve(['key']), 'ada')).toMatch(
      /^gatehouse-device-3000=[^;]+; path=\/; expires=[^;]+; samesite=lax; httponly$/i,
    );
  });
});
