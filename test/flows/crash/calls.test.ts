// The call ledger over a `kill -9` (src/ledger/ledger.ts).
// The full number of kills is three hundred: GATEHOUSE_KILLS=300 npx vitest run test/flows/crash/calls
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAdministration } from '../../../src/index.ts';
import { openDataFolder } from '../../../src/storage/sqlite/index.ts';
import { testFolderForFile } from '../../support/folder.ts';
import { obtainTokens, register } from '../../support/oauth.ts';
import { generousLimits } from '../token/subject.ts';
import { type Restartable, startRestartable } from './served.ts';

const kills = Number(process.env.GATEHOUSE_KILLS || 6);

/** Time after which a call is certainly in the ledger: the time of a batch, and what a busy machine adds. */
const certainMs = 600;

const folder = testFolderForFile();
let served: Restartable;
beforeAll(async () => {
  served = await startRestartable(folder, {
    limits: { ...generousLimits, toolCalls: { times: 0 }, mcpRequests: { times: 10_000_000 } },
    mcp: { sessions: 'none' },
    log: { level: 'silent' },
    dangerously: { trustOtherPorts: true },
  });
});
afterAll(() => served.stop());

it(`${kills} kills lose no call that was answered before the time of a batch, and the chain verifies after each`, async () => {
  const { client_id: clientId } = await register(served.at.url);
  const { tokens } = await obtainTokens(served.at, { clientId, scopes: ['notes:read', 'notes:write'] });
  /** Request ids of answered calls, with the times of their answers. */
  const answered = new Map<string, number>();
  let isLoading = true;
  const call = async (nth: number): Promise<void> => {
    const params = { name: 'search_notes', arguments: { text: `text ${nth}` } };
    const response = await fetch(served.at.mcpUrl, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokens.access_token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: nth, method: 'tools/call', params }),
    });
    if (!(await response.text()).includes('"result"')) return;
    answered.set(response.headers.get('x-request-id') ?? '', performance.now());
  };
  const load = async (from: number): Promise<void> => {
    for (let nth = from; isLoading; nth += 4) await call(nth).catch(() => sleep(20));
  };
  const loads = [1, 2, 3, 4].map(load);
  let missing = 0;
  let gaps = 0;
  for (let kill = 1; kill <= kills; kill++) {
    await sleep(900 + (kill % 7) * 100);
    const killedAt = performance.now();
    await served.kill();
    const { storage, keys } = await openDataFolder(folder);
    try {
      const verdict = await createAdministration({ storage, keys }).calls.verify();
      expect(verdict, `kill ${kill}`).toMatchObject({ isWhole: true, lost: 0, faults: [] });
      expect(verdict.gaps.length).toBe(kill - 1);
      const known = new Set<string>();
      for (let afterSeq = 0; ; ) {
        const rows = await storage.calls.read({ afterSeq }, 5_000);
        for (const { requestId } of rows) {
          expect(known.has(requestId)).toBe(false);
          known.add(requestId);
        }
        afterSeq = rows.at(-1)?.seq ?? afterSeq;
        if (rows.length < 5_000) break;
      }
      for (const [id, at] of answered) {
        if (known.has(id)) continue;
        if (at < killedAt - certainMs) missing++;
        answered.delete(id);
      }
      gaps = verdict.gaps.length;
    } finally {
      await storage.close();
    }
    await served.restart();
    // The next server notes that the last one ended without closing its ledger.
    await expect
      .poll(
        async () => {
          const opened = await openDataFolder(folder);
          const seals = await opened.storage.calls.seals(0, 1_000_000);
          await opened.storage.close();
          return seals.filter(({ gap }) => gap === 'ended').length;
        },
        { timeout: 30_000 },
      )
      .toBe(kill);
  }
  isLoading = false;
  await Promise.all(loads);
  console.log(`${answered.size} calls were answered and recorded, ${gaps + 1} gaps`);
  expect(missing).toBe(0);
  expect(answered.size).toBeGreaterThan(kills * 10);
}, 7_200_000);
