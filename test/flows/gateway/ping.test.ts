// Over src/gateway/backends/stdio/legacy-process.ts, spare.ts, src/gateway/backends/stdio/modern-process.ts and
// src/mcp/sdk/multiplexed-transport.ts: the gateway is the client of a program, and answers its pings.
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startGatehouse } from '../../support/gatehouse.ts';
import { oneIn } from '../../support/share.ts';
import { enter, openDoor } from '../attacks/support/doors.ts';
import { pingingProgram } from './support/pinging-program.ts';

/** A busy machine answers within three seconds, but once took more than one and a half. */
const unanswered = { everyMs: 100, unansweredMs: 3000 };

/** Time in which the client asks nothing, in milliseconds: longer than a ping may go unanswered. */
const idleMs = 4000;

describe.each(['session', 'account', 'shared'] as const)('a program with process: %s', (sharing) => {
  it.each(
    oneIn(3, [
      ['mcp 2025', 'legacy'],
      ['mcp 2026', 'legacy'],
      ['mcp 2025', 'modern'],
      ['mcp 2026', 'modern'],
    ] as const),
  )(
    'whose pings are answered lives on between the calls of a client at %s, if it speaks %s revisions (FA-41)',
    async (name, era) => {
      const gatehouse = await startGatehouse({
        backend: { ...pingingProgram(era, unanswered), process: sharing },
      });
      onTestFinished(() => gatehouse.stop());
      const door = await openDoor(gatehouse, name, await enter(gatehouse, { scopes: ['mcp'] }));
      onTestFinished(() => door.close());
      const call = async (): Promise<number[]> => {
        const { result } = await door.ask('tools/call', { name: 'pings', arguments: {} }, 7);
        const [{ text }] = (result as { content: [{ text: string }] }).content;
        return text.split(' ').map(Number);
      };
      const [pid] = await call();
      await pause(idleMs);
      const [later, answered] = await call();
      expect(later).toBe(pid);
      expect(answered).toBeGreaterThan(10);
    },
  );
});

it('A program that is started before anybody needs it gets its pings answered, too (FA-41)', async () => {
  const gatehouse = await startGatehouse({
    backend: { ...pingingProgram('from its start', unanswered), spare: 1, idleSeconds: 60 },
  });
  onTestFinished(() => gatehouse.stop());
  await vi.waitUntil(() => gatehouse.log.some((line) => line.includes('a backend was started')));
  await pause(idleMs);
  expect(gatehouse.log.filter((line) => line.includes('ended by itself'))).toEqual([]);
});

it.each(['legacy', 'modern'] as const)(
  'A program that speaks %s revisions is stopped after idleSeconds without a call, and not before (FA-41)',
  async (era) => {
    const backend = { ...pingingProgram(era, unanswered), process: 'account', idleSeconds: 3 } as const;
    const gatehouse = await startGatehouse({ backend });
    onTestFinished(() => gatehouse.stop());
    const name = era === 'legacy' ? 'mcp 2025' : 'mcp 2026';
    const door = await openDoor(gatehouse, name, await enter(gatehouse, { scopes: ['mcp'] }));
    onTestFinished(() => door.close());
    const pid = async (): Promise<number> => {
      const { result } = await door.ask('tools/call', { name: 'pings', arguments: {} }, 7);
      return Number((result as { content: [{ text: string }] }).content[0].text.split(' ')[0]);
    };
    const first = await pid();
    const isAlive = (): boolean => {
      try {
        return process.kill(first, 0);
      } catch {
        return false;
      }
    };
    await pause(1500);
    expect(isAlive()).toBe(true);
    await vi.waitUntil(() => !isAlive(), { timeout: 30_000 });
    expect(await pid()).not.toBe(first);
  },
);
