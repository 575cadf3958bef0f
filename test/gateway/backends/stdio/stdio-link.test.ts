import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { Restarts } from '../../../../src/gateway/backends/restarts.ts';
import { ProcessPool } from '../../../../src/gateway/backends/stdio/process-pool.ts';
import { createStdioLink } from '../../../../src/gateway/backends/stdio/stdio-link.ts';
import type { ModernFailure } from '../../../../src/gateway/modern/modern-link.ts';
import { internalRequest } from '../../../../src/mcp/modern/internal-call.ts';
import { createCaller } from '../../../mcp/support/modern-calls.ts';

const nowMs = () => performance.now();

it('the way to a program that is closed starts none for who asks again', async () => {
  const launch = vi.fn(() => new Promise<never>(() => undefined));
  const pool = new ProcessPool('Program', { total: 3, perAccount: 3 }, nowMs);
  const link = createStdioLink({
    ...{
      name: 'Program',
      sharing: 'session' as const,
      pingMs: 0,
      pings: { isAnswered: false },
      startMs: 20_000,
      pool,
      launch,
      nowMs,
    },
    restarts: new Restarts(nowMs),
    adopt: () => undefined,
  });
  const failures: ModernFailure[] = [];
  const ask = (then: (failure: ModernFailure) => void) =>
    link.send(
      { ...internalRequest('tools/list', {}), id: failures.length },
      { caller: createCaller(), parameters: [] },
      { notified: () => undefined, answered: () => undefined, failed: then },
    );
  const note = (failure: ModernFailure) => void failures.push(failure);
  ask((failure) => {
    note(failure);
    ask(note);
  });
  await link.close();
  const cancel = ask(note);
  cancel();
  await pause(10);
  expect(failures).toMatchObject([
    { error: { data: { reason: 'backend_ended' } } },
    { error: { data: { reason: 'backend_ended' } }, isBroken: false },
  ]);
  expect(launch).toHaveBeenCalledTimes(1);
  expect(pool.taken).toBe(0);
});
