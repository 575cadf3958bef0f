import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StdioProcess, type StdioProcessOptions } from '../../../src/gateway/backends/stdio-process.ts';
import { createWatchdog } from '../../../src/gateway/backends/watchdog.ts';
import { createLogger } from '../../../src/observability/logger.ts';

function start(args: readonly string[], options: Partial<StdioProcessOptions> = {}) {
  const logger = createLogger('silent');
  const watchdog = createWatchdog(logger);
  const program = new StdioProcess({
    name: 'Notes',
    command: 'sh',
    args,
    env: { PATH: String(process.env.PATH) },
    secrets: [],
    maxLineBytes: 1000,
    patience: { byItselfMs: 500, afterTermMs: 500 },
    watchdog,
    logger,
    nowMs: () => performance.now(),
    ...options,
  });
  const heard: string[] = [];
  const gone = new Promise<void>((resolve) => {
    program.listener = {
      line: (bytes) => void heard.push(Buffer.from(bytes).toString()),
      tooLong: () => void heard.push('(too long)'),
      gone: resolve,
    };
  });
  onTestFinished(async () => {
    await program.end();
    watchdog.close();
  });
  return { program, heard, gone };
}

describe('a process', () => {
  it('takes messages as lines, and gives its lines, the last before its end among them', async () => {
    const { program, heard, gone } = start([
      '-c',
      'read -r a; read -r b; echo "$b"; printf "%s\\n" "$a"; printf "%2000d\\nend\\n" 1',
    ]);
    program.write({ text: 'one\ntwo' });
    program.write('second');
    await gone;
    expect(heard).toEqual(['"second"', String.raw`{"text":"one\ntwo"}`, '(too long)', 'end']);
    expect(program.isGone).toBe(true);
  });

  it.each([
    ['a program there is not', { command: '/nowhere/at/all' }],
    ['an argument that no process can be given', { args: ['a\0b'] }],
    ['a folder there is not', { folder: '/nowhere/at/all' }],
  ])('that cannot be started tells so later: %s', async (_what, options) => {
    const { gone } = start(['-c', 'exit'], options);
    await gone;
  });

  it('works in the folder it is given', async () => {
    const { heard, gone } = start(['-c', 'pwd'], { folder: '/usr' });
    await gone;
    expect(heard).toEqual(['/usr']);
  });

  it('that reads nothing is stuck when more waits than may', async () => {
    const { program } = start(['-c', 'sleep 60']);
    expect(program.isStuck).toBe(false);
    program.write('x'.repeat(200_000));
    await pause(50);
    expect(program.isStuck).toBe(true);
  });

  it('is not read for a while, and loses nothing by that', async () => {
    const { program, heard, gone } = start(['-c', 'read a; echo one; read b; echo two']);
    program.pauseReading(300);
    program.write(1);
    await pause(150);
    expect(heard).toEqual([]);
    await pause(300);
    expect(heard).toEqual(['one']);
    program.write(2);
    await gone;
    expect(heard).toEqual(['one', 'two']);
  });

  it('says nothing more when it is being ended', async () => {
    const { program, heard, gone } = start(['-c', 'cat; echo last']);
    let wasTold = false;
    void gone.then(() => {
      wasTold = true;
    });
    await program.end();
    expect([heard, wasTold]).toEqual([[], false]);
  });
});
