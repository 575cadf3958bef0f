import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { readClaimedClient } from '../../../src/authorization-server/endpoint-limits/endpoint-limits.ts';
import { serveSteps } from '../../support/koa-step.ts';

async function ask(path: string, init: RequestInit = {}): Promise<unknown> {
  const url = await serveSteps([
    async (ctx) => {
      ctx.body = { clientId: await readClaimedClient(ctx) };
    },
  ]);
  const response = await fetch(`${url}${path}`, init);
  return { status: response.status, ...((await response.json()) as object) };
}

const post = (body: string, headers: Record<string, string> = {}) =>
  ask('/', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });

const basic = (user: string) => ({ authorization: `Basic ${Buffer.from(`${user}:x`).toString('base64')}` });

describe('the client a request claims to come from', () => {
  it('stands in the query of a GET, the first one where it stands there twice', async () => {
    expect(await ask('/?client_id=a%20b&client_id=c')).toEqual({ status: 200, clientId: 'a b' });
  });

  it('stands in the form, the user of HTTP Basic or the subject of an assertion', async () => {
    const assertion = await new SignJWT({ sub: 'asserted' })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new Uint8Array(32));
    expect(await post('client_id=form')).toMatchObject({ clientId: 'form' });
    expect(await post('', basic('a%2Bb'))).toMatchObject({ clientId: 'a+b' });
    expect(await post(`client_assertion=${assertion}`)).toMatchObject({ clientId: 'asserted' });
  });

  it.each(['', 'client_assertion=nonsense', 'client_assertion=a.b.c', 'client_id='])(
    'is empty where there is none: %j',
    async (body) => expect(await post(body)).toEqual({ status: 200, clientId: '' }),
  );

  it('is empty for a body that is no form, and for credentials that are none', async () => {
    expect(await post('{}', { 'content-type': 'application/json' })).toMatchObject({ clientId: '' });
    expect(await post('', { authorization: 'Basic !' })).toMatchObject({ clientId: '' });
  });

  it('stands in no form that is refused, but may stand in its headers', async () => {
    const tooLarge = `client_id=form&x=${'x'.repeat(60_000)}`;
    expect(await post(tooLarge)).toEqual({ status: 200, clientId: '' });
    expect(await post(tooLarge, basic('header'))).toMatchObject({ clientId: 'header' });
  });
});
