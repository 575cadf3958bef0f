import { expect, it } from 'vitest';
import { awaitBondOfRefresh, type LinkWord } from '../../../src/authorization-server/bonds/link-standing.ts';
import { onlyFor } from '../../../src/authorization-server/endpoints/form-body.ts';
import { hashSecret } from '../../../src/crypto/secret.ts';
import { serveSteps } from '../../support/koa-step.ts';

/** Serves the step in front of an endpoint that answers 200; gives how a form is answered. */
async function start(word: LinkWord, { isBound = true } = {}) {
  const asked: string[] = [];
  const check = awaitBondOfRefresh({
    upstreams: {
      bondOfArtifact: async (kind, id) =>
        isBound && kind === 'RefreshToken' && id === hashSecret(kind, 'refresh')
          ? { sessionId: 'session', linkId: 'link' }
          : undefined,
    },
    standing: {
      check(linkId) {
        asked.push(linkId);
        return word;
      },
      retryAfterSeconds: () => 9,
    },
  });
  const url = await serveSteps([
    onlyFor('refresh_token', check),
    (ctx) => {
      ctx.body = 'next';
    },
  ]);
  const post = (fields: Record<string, string>) =>
    fetch(url, { method: 'POST', body: new URLSearchParams(fields) });
  return { post, asked };
}

const refresh = { grant_type: 'refresh_token', refresh_token: 'refresh' };

it.each(['stands', 'ended'] as const)(
  'a refresh goes on to the engine when it is known that the login %s (A10-02)',
  async (word) => {
    const { post, asked } = await start(word);
    expect(await (await post(refresh)).text()).toBe('next');
    expect(asked).toEqual(['link']);
  },
);

it('a refresh is told to come back while nobody can tell, and nothing was used up (T-090)', async () => {
  const { post } = await start('unavailable');
  const response = await post(refresh);
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '9']);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toMatchObject({ error: 'temporarily_unavailable' });
});

it.each([
  ['another grant type', { grant_type: 'authorization_code', refresh_token: 'refresh' }],
  ['an unknown refresh token', { grant_type: 'refresh_token', refresh_token: 'unknown' }],
  ['no refresh token', { grant_type: 'refresh_token' }],
])('nobody is asked about %s', async (_what, fields) => {
  const { post, asked } = await start('unavailable');
  expect(await (await post(fields)).text()).toBe('next');
  expect(asked).toEqual([]);
});

it('nobody is asked about a grant that hangs on nothing', async () => {
  const { post, asked } = await start('unavailable', { isBound: false });
  expect(await (await post(refresh)).text()).toBe('next');
  expect(asked).toEqual([]);
});
