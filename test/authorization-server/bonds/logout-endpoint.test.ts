import { expect, it } from 'vitest';
import {
  createLogoutTokenEndpoint,
  type TakeLogoutToken,
} from '../../../src/authorization-server/bonds/logout-endpoint.ts';
import { serveSteps } from '../../support/koa-step.ts';

const limitOf = { failures: () => ({ name: 'tokenFailures' as const, step: async () => undefined }) };

async function start(outcome: Awaited<ReturnType<TakeLogoutToken>>) {
  const taken: [string, string][] = [];
  const path = '/upstream/work/backchannel-logout';
  const endpoint = createLogoutTokenEndpoint(async (upstream, token) => {
    taken.push([upstream, token]);
    return outcome;
  }, limitOf);
  const url = await serveSteps([...endpoint.steps(path)]);
  const post = (body: string) =>
    fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  return { endpoint, taken, post };
}

it('a logout token that is taken is answered with 200, which nothing may store (T-091)', async () => {
  const { post, taken } = await start({ ended: { grants: 1 } });
  const response = await post('logout_token=jwt');
  expect([response.status, await response.text()]).toEqual([200, '']);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(taken).toEqual([['work', 'jwt']]);
});

it.each([
  ['logout_token_used', 'this logout token was used before'],
  ['jwt_signature', 'the logout token is not accepted'],
  ['jwt_audience', 'the logout token is not accepted'],
])('one that is refused as %s is answered with 400 and no more than that (T-091)', async (refused, words) => {
  const { post } = await start({ refused });
  const response = await post('logout_token=jwt');
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({ error: 'invalid_request', error_description: words });
});

it('where there is no upstream of the name, there is nothing (T-091)', async () => {
  const { post } = await start({ refused: 'unknown_upstream' });
  expect((await post('logout_token=jwt')).status).toBe(404);
});

it.each(['', 'logout_token=a&logout_token=b', 'token=jwt'])('the form "%s" is refused', async (body) => {
  const { post, taken } = await start({ ended: {} });
  expect((await post(body)).status).toBe(400);
  expect(taken).toEqual([]);
});

it('there is an address for each name an upstream can have, and for nothing else', async () => {
  const { pattern } = (await start({ ended: {} })).endpoint;
  expect(pattern.test('/upstream/work-2/backchannel-logout')).toBe(true);
  expect(pattern.test(`/upstream/${'a'.repeat(33)}/backchannel-logout`)).toBe(false);
  expect(pattern.test('/upstream/Work/backchannel-logout')).toBe(false);
  expect(pattern.test('/upstream/a/b/backchannel-logout')).toBe(false);
});
