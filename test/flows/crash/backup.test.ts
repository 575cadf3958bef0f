// A backup of a busy server, and what it may bring back (flows of src/storage/sqlite/data-folder/back-up.ts, restore.ts and revoke-all.ts).
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testFolderForFile } from '../../support/folder.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, redeem, refresh, type Tokens, tryAccess } from '../../support/oauth.ts';
import { runGatehouse } from '../../support/served.ts';
import { expectTokens, obtainCode } from '../token/subject.ts';
import { expectIntact, type Restartable, startRestartable } from './served.ts';

const root = testFolderForFile();
const data = join(root, 'data');
let served: Restartable;
beforeAll(async () => {
  served = await startRestartable(data);
});
afterAll(() => served.stop());

/** A login whose refresh token is used up, one whose code is, and one that is withdrawn, all after the backup. */
async function useAfter(backUp: () => Promise<void>) {
  const { at } = served;
  const [refreshing, withdrawn, { flow, code }] = await Promise.all([
    obtainTokens(at),
    obtainTokens(at),
    obtainCode(at),
  ]);
  await backUp();
  const rotated = await expectTokens(
    await refresh(at.url, refreshing.clientId, refreshing.tokens.refresh_token),
  );
  await expectTokens(await redeem(at.url, flow, code));
  const revoked = await fetch(`${at.url}/revoke`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ client_id: withdrawn.clientId, token: withdrawn.tokens.refresh_token }),
  });
  expect(revoked.status).toBe(200);
  return { refreshing, rotated, withdrawn, flow, code };
}

/** Refreshes again and again until it is told to stop; gives how often, and every status that was not 200. */
function keepBusy(login: { clientId: string; tokens: Tokens }) {
  let stopped = false;
  const run = async () => {
    let token = login.tokens.refresh_token;
    const seen = { refreshes: 0, failures: [] as number[] };
    while (!stopped && seen.refreshes < 5000) {
      const response = await refresh(served.at.url, login.clientId, token);
      seen.refreshes++;
      if (response.status === 200) token = ((await response.json()) as Tokens).refresh_token;
      else seen.failures.push(response.status);
    }
    return seen;
  };
  const ran = run();
  return () => {
    stopped = true;
    return ran;
  };
}

describe('a backup of a server under load', () => {
  it('is whole, disturbs no request, and put back revives nothing that was used up or withdrawn since (T-173)', async () => {
    const backup = join(root, 'backup');
    const busy = await Promise.all(
      Array.from({ length: 4 }, async () => keepBusy(await obtainTokens(served.at))),
    );
    const used = await useAfter(async () => {
      const { code, stderr } = await runGatehouse(['backup', backup, '--data', data]);
      expect([code, stderr]).toEqual([0, '']);
    });
    const work = await Promise.all(busy.map((stop) => stop()));
    expect(work.flatMap(({ failures }) => failures)).toEqual([]);
    expect(Math.min(...work.map(({ refreshes }) => refreshes))).toBeGreaterThan(1);
    expectIntact(backup);
    await served.kill();

    const restored = join(root, 'restored');
    expect((await runGatehouse(['restore', backup, '--data', restored])).code).toBe(0);
    await expectDead(restored, used);
    // Without the switch all of it lives again: this is what it is for.
    const revived = join(root, 'revived');
    expect((await runGatehouse(['restore', backup, '--data', revived, '--keep-logins'])).code).toBe(0);
    await expectAlive(revived, used);
  });
});

type Used = Awaited<ReturnType<typeof useAfter>>;

async function tryAll(
  folder: string,
  { refreshing, rotated, withdrawn, flow, code }: Used,
): Promise<number[]> {
  const port = Number(new URL(served.at.url).port);
  const gatehouse = await startGatehouse({ folder, port });
  try {
    return [
      (await redeem(gatehouse.url, flow, code)).status,
      (await refresh(gatehouse.url, refreshing.clientId, refreshing.tokens.refresh_token)).status,
      (await refresh(gatehouse.url, refreshing.clientId, rotated.refresh_token)).status,
      (await refresh(gatehouse.url, withdrawn.clientId, withdrawn.tokens.refresh_token)).status,
      await tryAccess(gatehouse.mcpUrl, withdrawn.tokens.access_token),
    ];
  } finally {
    await gatehouse.stop();
  }
}

async function expectDead(folder: string, used: Used): Promise<void> {
  expect(await tryAll(folder, used)).toEqual([400, 400, 400, 400, 401]);
}

async function expectAlive(folder: string, used: Used): Promise<void> {
  expect((await tryAll(folder, used)).slice(0, 2)).toEqual([200, 200]);
}
