// Flow of src/cli/commands/operator/keys.ts beside a server in a process of its own.
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { obtainTokens, refresh, type Tokens, tryAccess } from '../../support/oauth.ts';
import { repository, runProgram } from '../../support/program.ts';
import { type Served, serveGatehouse, sourceCommandLine } from '../../support/served.ts';
import { placeOf } from '../../support/test-storage.ts';
import { generousLimits } from '../token/subject.ts';
import { openStream } from './support/stream.ts';

interface KeyLine {
  kind: string;
  id: string;
  state: string;
}

type LoginTokens = Tokens & { id_token: string };

let served: Served;
beforeAll(async () => {
  served = await serveGatehouse([], { limits: generousLimits });
});
afterAll(() => served.stop());

/** Runs `gatehouse keys …` as an operator does, whose new keys are used after seconds. */
async function keys(...args: string[]): Promise<KeyLine[]> {
  const shortLead = pathToFileURL(`${repository}/test/flows/keys/support/short-lead.ts`).href;
  const command = runProgram(
    sourceCommandLine,
    ['keys', ...args, '--json', ...(await placeOf(served.folder))],
    {
      env: { NODE_OPTIONS: `--import ${shortLead}` },
    },
  );
  expect(await command.ended, command.written.stderr).toBe(0);
  return JSON.parse(command.written.stdout) as KeyLine[];
}

async function verify({ id_token }: LoginTokens): Promise<string> {
  const keySet = (await (await fetch(`${served.url}/jwks`)).json()) as JSONWebKeySet;
  await jwtVerify(id_token, createLocalJWKSet(keySet), { issuer: served.url, clockTolerance: 10 });
  return String(decodeProtectedHeader(id_token).kid);
}

it('gatehouse keys rotate changes all three kinds under a server at work, and no call, refresh or login fails (T-178, T-179)', async () => {
  const chosen = { scope: 'openid notes:read', scopes: ['notes:read'] };
  const logIn = async () => {
    const { clientId, tokens } = await obtainTokens(served, chosen);
    return { clientId, tokens: tokens as LoginTokens };
  };
  const begun = await logIn();
  const refreshing = await logIn();
  let held = refreshing.tokens;
  const stream = await openStream(served, begun.tokens);
  const signedWith = new Set<string>();
  const done = { logins: 0, refreshes: 0, calls: 0 };
  const failures: string[] = [];
  let isOver = false;
  const repeat = async (work: () => Promise<void>): Promise<void> => {
    while (!isOver) await work().catch((error: unknown) => void failures.push(String(error).slice(0, 500)));
  };
  const load = [
    ...[1, 2].map(() =>
      repeat(async () => {
        signedWith.add(await verify((await logIn()).tokens));
        done.logins += 1;
      }),
    ),
    repeat(async () => {
      const answer = await refresh(served.url, refreshing.clientId, held.refresh_token);
      if (answer.status !== 200) throw new Error(`refresh: ${answer.status} ${await answer.text()}`);
      held = (await answer.json()) as LoginTokens;
      await verify(held);
      done.refreshes += 1;
    }),
    repeat(async () => {
      const statuses = [
        await tryAccess(served.mcpUrl, begun.tokens.access_token),
        await stream.list(served.mcpUrl),
      ];
      if (statuses.some((status) => status !== 200)) throw new Error(`calls: ${statuses}`);
      done.calls += 1;
      await wait(20);
    }),
  ];

  const before = await keys('list');
  const rotated = await keys('rotate');
  expect(rotated.map(({ kind }) => kind).sort()).toEqual(['cookies', 'sealing', 'signing']);
  const inUse = async () =>
    (await keys('list')).filter(({ state }) => state === 'current').map(({ id }) => id);
  await expect
    .poll(inUse, { timeout: 20_000, interval: 500 })
    .toEqual(expect.arrayContaining(rotated.map(({ id }) => id)));
  const newKey = rotated.find(({ kind }) => kind === 'signing')?.id;
  await expect.poll(() => [...signedWith], { timeout: 20_000 }).toContain(newKey);
  await wait(1000);
  isOver = true;
  await Promise.all(load);

  expect(failures).toEqual([]);
  for (const [what, times] of Object.entries(done)) expect(times, what).toBeGreaterThan(3);
  expect(signedWith).toEqual(new Set([before.find(({ kind }) => kind === 'signing')?.id, newKey]));
  expect(stream.isOpen()).toBe(true);
  expect(served.log()).not.toMatch(/SealBroken|"level":(50|"error")/);
}, 120_000);
