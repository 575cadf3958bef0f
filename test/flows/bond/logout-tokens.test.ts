// Flows of src/authorization-server/bonds/logout-endpoint.ts and src/upstream/links/back-channel-logout.ts.
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post } from '../../support/oauth.ts';
import { type OpenIdUpstream, startOpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin, omar, upstreamClient } from '../../support/upstreams/people.ts';
import { createUpstreamKey } from '../../support/upstreams/signing.ts';
import { type Arrived, arrive, type Scene, send, startScene } from './subject.ts';

let scene: Scene<OpenIdUpstream>;
let here: Arrived;
beforeAll(async () => {
  scene = await startScene(await startOpenIdUpstream(), {}, { mcp: { sessions: 'none' } });
  here = await arrive(scene);
});
afterAll(() => scene.stop());

const now = (): number => Math.floor(Date.now() / 1000);

const logoutEvent = { 'http://schemas.openid.net/event/backchannel-logout': {} };

/** Sends a logout token; gives the status and the body. */
async function sendToken(
  logoutToken: string,
): Promise<{ status: number; text: string; cache: string | null }> {
  const response = await post(`${scene.gatehouse.url}/upstream/work/backchannel-logout`, {
    logout_token: logoutToken,
  });
  return {
    status: response.status,
    text: await response.text(),
    cache: response.headers.get('cache-control'),
  };
}

async function stands({ tokens }: Arrived): Promise<boolean> {
  return (await send(scene.gatehouse.mcpUrl, tokens, { method: 'ping' })).status === 200;
}

/** The claims of a good one, to be signed otherwise. */
const claims = () => ({
  iss: scene.work.issuer,
  aud: upstreamClient.clientId,
  iat: now(),
  exp: now() + 120,
  jti: crypto.randomUUID(),
  sub: lin.sub,
  events: logoutEvent,
});

/** Tokens with one fault each, and the name of it. */
const faulty: readonly [string, string, () => Promise<string> | string][] = [
  ['of another type', 'logout_token_type', () => scene.work.logoutToken({ sub: lin.sub }, { typ: 'at+jwt' })],
  [
    'of another issuer',
    'jwt_issuer',
    () => scene.work.logoutToken({ sub: lin.sub, iss: 'https://evil.example' }),
  ],
  [
    'for another client',
    'jwt_audience',
    () => scene.work.logoutToken({ sub: lin.sub, aud: 'somebody-else' }),
  ],
  [
    'that has expired',
    'jwt_expired',
    () => scene.work.logoutToken({ sub: lin.sub, iat: now() - 900, exp: now() - 600 }),
  ],
  [
    'from the future',
    'jwt_from_future',
    () => scene.work.logoutToken({ sub: lin.sub, iat: now() + 600, exp: now() + 700 }),
  ],
  ['without an end', 'jwt_claims', () => scene.work.logoutToken({ sub: lin.sub, exp: undefined as never })],
  ['without the event', 'logout_token_type', () => scene.work.logoutToken({ sub: lin.sub, events: {} })],
  ['without events', 'logout_token_type', () => scene.work.logoutToken({ sub: lin.sub, events: undefined })],
  [
    'with a nonce, as an ID token has',
    'logout_token_nonce',
    () => scene.work.logoutToken({ sub: lin.sub, nonce: 'n' }),
  ],
  ['without an id', 'jwt_claims', () => scene.work.logoutToken({ sub: lin.sub, jti: undefined as never })],
  ['about nobody', 'jwt_claims', () => scene.work.logoutToken({})],
  ['that is not signed', 'jwt_algorithm', () => new UnsecuredJWT(claims()).encode()],
  [
    'signed with our own secret',
    'jwt_algorithm',
    () =>
      new SignJWT(claims())
        .setProtectedHeader({ alg: 'HS256', typ: 'logout+jwt' })
        .sign(new TextEncoder().encode(upstreamClient.clientSecret)),
  ],
  [
    'signed with a key that is not among the upstream’s',
    'jwt_key',
    async () => (await createUpstreamKey()).sign(claims(), { typ: 'logout+jwt' }),
  ],
  ['that is none', 'jwt_malformed', () => 'not.a.jwt'],
];

describe('a logout token', () => {
  it.each(faulty)(
    '%s is refused as %s, ends nothing, and says no more (T-091)',
    async (_what, reason, make) => {
      const before = scene.gatehouse.log.length;
      const { status, text, cache } = await sendToken(await make());
      expect([status, cache]).toEqual([400, 'no-store']);
      expect(JSON.parse(text)).toEqual({
        error: 'invalid_request',
        error_description: 'the logout token is not accepted',
      });
      expect(await stands(here)).toBe(true);
      const refused = scene.gatehouse.log
        .slice(before)
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ audit }) => audit === 'upstream.logout_refused');
      expect(refused.map((line) => line.reason)).toEqual([reason]);
    },
  );

  it('of an upstream that is not there is for nobody', async () => {
    const response = await post(`${scene.gatehouse.url}/upstream/play/backchannel-logout`, {
      logout_token: await scene.work.logoutToken({ sub: lin.sub }),
    });
    expect(response.status).toBe(404);
    expect(await stands(here)).toBe(true);
  });

  it('that names a session ends what came through it alone; sent again, it ends nothing more (T-091)', async () => {
    const [sid] = scene.work.sidsOf(lin.sub);
    const other = await arrive(scene, { who: omar });
    const token = await scene.work.logoutToken({ sid });
    expect(await sendToken(token)).toEqual({ status: 200, text: '', cache: 'no-store' });
    expect([await stands(here), await stands(other)]).toEqual([false, true]);

    here = await arrive(scene);
    expect(await sendToken(token)).toMatchObject({
      status: 400,
      text: expect.stringContaining('used before'),
    });
    expect(await stands(here)).toBe(true);
  });

  it('that names a person ends all of theirs, logins in browsers too (T-091)', async () => {
    const another = await arrive(scene);
    expect((await sendToken(await scene.work.logoutToken({ sub: lin.sub }))).status).toBe(200);
    expect([await stands(here), await stands(another)]).toEqual([false, false]);
    const page = await another.visitor.open(`${scene.gatehouse.url}/account`);
    expect(page.html).toContain('name="password"');
  });

  it('whose end is a fraction of a second, or has just been, counts, and counts once (T-091)', async () => {
    for (const exp of [now() + 120.5, now() - 30]) {
      const token = await scene.work.logoutToken({ sub: 'nobody', exp });
      expect((await sendToken(token)).status).toBe(200);
      await scene.gatehouse.storage.sweepExpired(now());
      expect((await sendToken(token)).status).toBe(400);
    }
  });
});
