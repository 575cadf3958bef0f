// Flows of src/composition/upstreams.ts, src/upstream/links/link-status.ts, src/upstream/links/link-monitor.ts and
// src/upstream/links/back-channel-logout.ts: what ends on one side ends on the other, and how soon.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post, refresh } from '../../support/oauth.ts';
import { oneSecondMs } from '../../support/one-second.ts';
import { patience } from '../../support/patience.ts';
import { type OpenIdUpstream, startOpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin, omar } from '../../support/upstreams/people.ts';
import {
  type Another,
  type Arrived,
  arrive,
  onlyLink,
  openAll,
  type Scene,
  send,
  startScene,
} from './subject.ts';

let scene: Scene<OpenIdUpstream>;
let other: Another;
beforeAll(async () => {
  // Checked after a second, and not by each request.
  scene = await startScene(await startOpenIdUpstream(), { checkSeconds: 1 });
  other = await scene.serveAnother();
});
afterAll(async () => {
  await other.stop();
  await scene.stop();
});

/** Ends something with streams and a call open at two processes; gives how long it took until all of it had ended. */
async function measure(end: (arrived: Arrived) => Promise<unknown>, who = lin): Promise<number> {
  const { gatehouse } = scene;
  const arrived = await arrive(scene, { who });
  const { tokens, clientId } = arrived;
  const open = [
    await openAll(gatehouse.mcpUrl, tokens),
    await openAll(other.mcpUrl, tokens, { calls: false }),
  ];
  await end(arrived);
  const endedAt = performance.now();
  const took = Math.max(...(await Promise.all(open.map(({ ended }) => ended)))) - endedAt;
  for (const { mcpUrl } of [gatehouse, other])
    expect((await send(mcpUrl, tokens, { method: 'ping' })).status).toBe(401);
  expect([400, 401]).toContain((await refresh(gatehouse.url, clientId, tokens.refresh_token)).status);
  return took;
}

/** The last refresh token and access token that the upstream gave. */
const given = (): string[] => scene.work.issued.slice(-3).filter((token) => !token.startsWith('ey'));

describe('their end is ours, within a second of knowing (A10-02, T-091)', () => {
  it('when they log out there: the back channel names the session', async () => {
    expect(await measure(() => scene.work.logOut(lin.sub))).toBeLessThan(oneSecondMs);
  });

  it('when a logout token names the person', async () => {
    const took = await measure(async () => {
      const token = await scene.work.logoutToken({ sub: lin.sub });
      const response = await post(`${scene.gatehouse.url}/upstream/work/backchannel-logout`, {
        logout_token: token,
      });
      expect([response.status, await response.text()]).toEqual([200, '']);
    });
    expect(took).toBeLessThan(patience(1000));
  });

  it('when the upstream takes back what it gave, and nobody calls: streams are looked after', async () => {
    const took = await measure(async () => {
      scene.work.revokeTokensOf(lin.sub);
      await expect
        .poll(async () => (await scene.gatehouse.storage.upstreams.list('work', { limit: 1 })).length, {
          timeout: 5000,
          interval: 5,
        })
        .toBe(0);
    });
    expect(took).toBeLessThan(patience(1000));
  });

  it('when the operator ends it', async () => {
    const took = await measure(() => scene.gatehouse.storage.upstreams.endAll('work'));
    expect(took).toBeLessThan(patience(1000));
  });

  it('when the person unlinks it', async () => {
    const took = await measure(async () => {
      const link = await onlyLink(scene);
      await scene.gatehouse.storage.upstreams.unlink(link.id);
    }, omar);
    expect(took).toBeLessThan(patience(1000));
  });
});

describe('our end is theirs, within a second (A10-02)', () => {
  const endings: readonly [string, (arrived: Arrived) => Promise<unknown>][] = [
    [
      'its refresh token is revoked',
      ({ clientId, tokens }) =>
        post(`${scene.gatehouse.url}/revoke`, { client_id: clientId, token: tokens.refresh_token }),
    ],
    [
      'its access token is revoked',
      ({ clientId, tokens }) =>
        post(`${scene.gatehouse.url}/revoke`, { client_id: clientId, token: tokens.access_token }),
    ],
    [
      'the operator removes the app',
      ({ clientId }) => scene.gatehouse.administration.clients.remove(clientId),
    ],
    [
      'the operator ends the grant',
      async () => {
        const { accountId } = await onlyLink(scene);
        for (const { id } of await scene.gatehouse.storage.artifacts.listGrants(accountId))
          await scene.gatehouse.storage.artifacts.revokeGrant(id);
      },
    ],
    [
      'the account is removed',
      async () => {
        const { accountId } = await onlyLink(scene);
        await scene.gatehouse.storage.accounts.remove(accountId);
      },
    ],
    ['the operator ends the upstream', () => scene.gatehouse.storage.upstreams.endAll('work')],
  ];

  it.each(endings)('the right tokens are revoked there when %s', async (_what, end) => {
    const before = scene.work.revoked.length;
    const took = await measure(async (arrived) => {
      const held = given();
      await end(arrived);
      const endedAt = performance.now();
      // Behind what was still to be revoked of the ending before.
      await expect
        .poll(() => scene.work.revoked.slice(before).some((token) => held.includes(token)), {
          timeout: 5000,
          interval: 5,
        })
        .toBe(true);
      expect(performance.now() - endedAt).toBeLessThan(patience(1000));
    });
    expect(took).toBeLessThan(patience(1000));
  });
});
