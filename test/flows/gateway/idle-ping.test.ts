// Over src/gateway/backends/stdio/legacy-process.ts and src/gateway/backends/stdio/modern-process.ts, for as long as people are away.
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startGatehouse } from '../../support/gatehouse.ts';
import { enter, openDoor } from '../attacks/support/doors.ts';
import { pingingProgram } from './support/pinging-program.ts';

const idleMs = 600_000;

it('A program that ends at a ping unanswered for 3 s lives through ten idle minutes, whoever shares it, in both eras (FA-41)', async () => {
  const cases = (['session', 'account', 'shared'] as const).flatMap((sharing) =>
    (['legacy', 'modern'] as const).map((era) => [sharing, era] as const),
  );
  const pids = async ([sharing, era]: (typeof cases)[number]): Promise<string[]> => {
    const program = pingingProgram(era, { everyMs: 1000, unansweredMs: 3000 });
    const gatehouse = await startGatehouse({ backend: { ...program, process: sharing } });
    onTestFinished(() => gatehouse.stop());
    const name = era === 'legacy' ? 'mcp 2025' : 'mcp 2026';
    const door = await openDoor(gatehouse, name, await enter(gatehouse, { scopes: ['mcp'] }));
    onTestFinished(() => door.close());
    const pid = async (): Promise<string> => {
      const { result } = await door.ask('tools/call', { name: 'pings', arguments: {} }, 7);
      return (result as { content: [{ text: string }] }).content[0].text.split(' ')[0] ?? '';
    };
    const first = await pid();
    await pause(idleMs);
    return [first, await pid()];
  };
  for (const [first, last] of await Promise.all(cases.map(pids))) expect(last).toBe(first);
}, 900_000);
