import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTokenFile } from '../../../src/client/node/index.ts';
import { testCredential, testRegistration } from '../../client/support/credentials.ts';
import { testFolder } from '../../client/support/folder.ts';
import type { Finish, Round } from './support/refresh-racer.ts';
import { startRotatingServer, tokenLifeSeconds } from './support/rotating-server.ts';

/** The full number is 1,000: GATEHOUSE_REFRESH_ROUNDS=1000. */
const rounds = Number(process.env.GATEHOUSE_REFRESH_ROUNDS);

const server = 'https://mcp.example/mcp';
const racer = fileURLToPath(new URL('support/refresh-racer.ts', import.meta.url));

const messageOf = <T>(child: ChildProcess): Promise<T> =>
  new Promise((resolve, reject) => {
    const fail = (code: number | null): void => reject(new Error(`A racer ended with ${code}.`));
    child.once('exit', fail);
    child.once('message', (message) => {
      child.off('exit', fail);
      resolve(message as T);
    });
  });

async function startRacers(count: number, folder: string): Promise<ChildProcess[]> {
  const racers = Array.from({ length: count }, () => fork(racer, [folder, server]));
  onTestFinished(async () => {
    const ended = racers.map((child) => new Promise((resolve) => child.once('close', resolve)));
    for (const child of racers) child.kill('SIGKILL');
    await Promise.all(ended);
  });
  await Promise.all(racers.map((child) => messageOf<'ready'>(child)));
  return racers;
}

describe('many processes renew one login, of a server that rotates and detects reuse', () => {
  it.each([
    { processes: 2, times: rounds || 20 },
    { processes: 20, times: rounds || 5 },
  ])(
    '$processes of them, $times times: one redeems, all have its token, nobody is logged out (CL-1, A9-05, T-188)',
    async ({ processes, times }) => {
      const as = await startRotatingServer();
      const folder = testFolder();
      const store = createTokenFile(folder);
      let now = 1_800_000_000;
      await store.saveRegistration(testRegistration({ issuer: as.origin }));
      await store.saveCredential(
        server,
        testCredential({ issuer: as.origin, accessToken: 'first', refreshToken: 'first', expiresAt: now }),
      );
      const racers = await startRacers(processes, folder);
      for (let round = 1; round <= times; round++) {
        // In turn the token ends, and the MCP server refuses it before.
        const refused = round % 2 === 0;
        if (!refused) now += tokenLifeSeconds;
        const told: Round = refused ? { now, rejected: as.tokens.access } : { now };
        const answers = Promise.all(racers.map((child) => messageOf<Finish>(child)));
        for (const child of racers) child.send(told);
        const found = await answers;
        expect(found).toEqual(racers.map(() => ({ accessToken: as.tokens.access })));
        expect([as.redemptions, as.reuses]).toEqual([round, 0]);
      }
      expect((await store.findCredential(server))?.refreshToken).toBe(as.tokens.refresh);
      expect(as.requests).toHaveLength(times);
    },
    60_000 + (rounds || 0) * 2_000,
  );
});
