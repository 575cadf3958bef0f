// Flows of src/authorization-server/administration/keys.ts, src/authorization-server/administration/audit.ts,
// src/authorization-server/keys/key-care.ts and src/authorization-server/engine/engine.ts.
import { setTimeout as wait } from 'node:timers/promises';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { expect, it, onTestFinished } from 'vitest';
import { testFolder } from '../../client/support/folder.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import {
  authorization,
  obtainTokens,
  openConsent,
  refresh,
  register,
  type Tokens,
  tryAccess,
} from '../../support/oauth.ts';
import { openState } from '../../support/test-storage.ts';
import { createVisitor } from '../../support/visitor.ts';
import { generousLimits } from '../token/subject.ts';
import { openStream } from './support/stream.ts';

/** How long a verifier keeps its copy of the key set, and caches in between theirs, in seconds. */
const keptSeconds = 900;

/** A verifier that fetches the key set as seldom as it may, and never because of a key it does not know. */
function createVerifier(url: string, now: () => number) {
  let kept: { at: number; keys: ReturnType<typeof createLocalJWKSet> } | undefined;
  return async (idToken: string): Promise<void> => {
    if (!kept || kept.at + keptSeconds <= now()) {
      const at = now();
      const keySet = (await (await fetch(`${url}/jwks`)).json()) as JSONWebKeySet;
      kept = { at, keys: createLocalJWKSet(keySet) };
    }
    await jwtVerify(idToken, kept.keys, { issuer: url, clockTolerance: 10 });
  };
}

it('all three kinds of keys are rotated under load, and nobody notices: no call, page, token, stream or stored session fails (T-178, T-179)', async () => {
  const folder = testFolder();
  const clock = { ahead: 0 };
  const now = (): number => Math.floor(Date.now() / 1000) + clock.ahead;
  const data = await openState(folder, { now });
  onTestFinished(() => data.storage.close());
  const { keys, keyRing } = data;
  const gatehouse = await startGatehouse({ folder, keys, keyRing, limits: generousLimits });
  const verify = createVerifier(gatehouse.url, now);
  const failures: string[] = [];
  const done = { logins: 0, refreshes: 0, calls: 0 };
  let isOver = false;
  const repeat = async (work: () => Promise<void>): Promise<void> => {
    while (!isOver)
      await work().catch(
        (error: unknown) =>
          void failures.push(
            String(error)
              .replace(/<style>[\s\S]*<\/style>/, '')
              .slice(0, 1500),
          ),
      );
  };
  const logIn = async (): Promise<void> => {
    const { tokens } = await obtainTokens(gatehouse, { scope: 'openid notes:read' });
    await verify((tokens as Tokens & { id_token: string }).id_token);
    done.logins++;
  };
  const begun = await obtainTokens(gatehouse, { scope: 'openid notes:read' });
  let held = (await obtainTokens(gatehouse, { scope: 'openid notes:read' })).tokens;
  const { client_id: refreshing } = await register(gatehouse.url);
  held = (await obtainTokens(gatehouse, { clientId: refreshing, scope: 'openid notes:read' })).tokens;
  const { isOpen, list } = await openStream(gatehouse, begun.tokens);

  /** People who have a page open while keys change, and go on with it in the end. */
  const patient = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const visitor = createVisitor();
      const flow = authorization(gatehouse, refreshing);
      return { visitor, page: await openConsent(flow, visitor) };
    }),
  );

  const load = [
    ...Array.from({ length: 3 }, () => repeat(logIn)),
    repeat(async () => {
      const answer = await refresh(gatehouse.url, refreshing, held.refresh_token);
      if (answer.status !== 200) throw new Error(`refresh: ${answer.status}`);
      const tokens = (await answer.json()) as Tokens & { id_token: string };
      await verify(tokens.id_token);
      held = tokens;
      done.refreshes++;
    }),
    repeat(async () => {
      const status = await tryAccess(gatehouse.mcpUrl, begun.tokens.access_token);
      if (status !== 200) throw new Error(`call: ${status}`);
      if ((await list(gatehouse.mcpUrl)) !== 200) throw new Error('a call in the session failed');
      done.calls++;
      await wait(20);
    }),
  ];
  const [before] = [structuredClone({ ...keys })];
  const inUse = (): (string | undefined)[] => [keys.signing[0]?.kid, keys.cookies[0], keys.sealing[0]?.id];

  await wait(1000);
  for (const kind of ['signing', 'cookies', 'sealing'] as const) await keyRing.rotate(kind);
  await wait(1500);
  clock.ahead = 20;
  await expect.poll(() => keys.cookies[0], { timeout: 5000 }).not.toBe(before.cookies[0]);
  await wait(1500);
  clock.ahead = 890;
  await wait(500);
  clock.ahead = 905;
  await expect.poll(() => keys.signing[0]?.kid, { timeout: 5000 }).not.toBe(before.signing[0]?.kid);
  await wait(2000);
  isOver = true;
  await Promise.all(load);

  expect(failures).toEqual([]);
  for (const [what, times] of Object.entries(done)) expect(times, what).toBeGreaterThan(3);
  expect(inUse()).not.toContain(before.sealing[0]?.id);
  expect(isOpen()).toBe(true);
  for (const { visitor, page } of patient) {
    const { response } = await visitor.submit(page, '/consent', [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
    ]);
    expect(response.headers.get('location'), `${response.status}`).toMatch(/[?&]code=/);
  }

  // What the old key sealed is sealed anew: without it another process still reads everything.
  const old = before.sealing[0]?.id ?? '';
  await expect
    .poll(async () => (await data.storage.sealedRows.countByKey()).has(old), { timeout: 10_000 })
    .toBe(false);
  expect(await keyRing.drop('sealing', [old])).toEqual([old]);
  await gatehouse.stop();
  const again = await startGatehouse({
    folder,
    keys,
    keyRing,
    port: Number(new URL(gatehouse.url).port),
    limits: generousLimits,
  });
  expect(await list(again.mcpUrl)).toBe(200);
  expect((await refresh(again.url, refreshing, held.refresh_token)).status).toBe(200);
  expect(again.log.filter((line) => line.includes('SealBroken'))).toEqual([]);
  expect((await again.administration.audit.verify()).faults).toEqual([]);
  await again.stop();
}, 120_000);
