import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGroupWatch, signalGroup } from '../../../../src/gateway/backends/stdio/process-groups.ts';

function startGroup(children: number): number {
  const script = `for i in $(seq ${children}); do sleep 60 & done; wait`;
  const { pid = 0 } = spawn('sh', ['-c', script], { stdio: 'ignore', detached: true });
  onTestFinished(() => void signalGroup(pid, 'SIGKILL'));
  return pid;
}

describe.skipIf(!existsSync('/proc/self/stat'))('a group of processes', () => {
  it('that grows beyond its number is ended as a whole, and others are not (T-155)', async () => {
    const told: unknown[] = [];
    const { watch } = createGroupWatch('Notes', 30, {
      warn: (fields: object) => void told.push(fields),
    } as never);
    const [bomb, good] = [startGroup(100), startGroup(5)];
    const stops = [watch(bomb), watch(good)];
    await vi.waitFor(() => expect(signalGroup(bomb, 0)).toBe(false), { timeout: 5000 });
    expect(signalGroup(good, 0)).toBe(true);
    expect(told[0]).toMatchObject({ backend: 'Notes', pid: bomb, most: 30 });
    for (const stop of stops) stop();
  });
});
