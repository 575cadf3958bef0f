import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWatchdog } from '../../../../src/gateway/backends/stdio/process-groups.ts';
import {
  createErrorOutput,
  StdioProcess,
  type StdioProcessOptions,
} from '../../../../src/gateway/backends/stdio/stdio-process.ts';
import { createLogger } from '../../../../src/observability/logger.ts';

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

describe('the log of standard error', () => {
  function written(): {
    lines: Record<string, unknown>[];
    write: (text: string) => void;
    pass: (ms: number) => void;
  } {
    const lines: Record<string, unknown>[] = [];
    let nowMs = 0;
    const take = createErrorOutput({
      backend: 'Notes',
      pid: 7,
      secrets: ['a-long', 'a-long-token'],
      logger: { info: (fields: Record<string, unknown>) => void lines.push(fields) } as never,
      nowMs: () => nowMs,
    });
    return {
      lines,
      write: (text) => take(Buffer.from(text)),
      pass(ms) {
        nowMs += ms;
      },
    };
  }

  describe('the standard error of a backend', () => {
    it('is a log line for each of its lines, cut anywhere, without control characters and secrets (T-194, T-195)', () => {
      const { lines, write } = written();
      write('one\r\ntwo a-long-');
      write('token \u001b[1m\n\nthree');
      expect(lines).toEqual([
        { backend: 'Notes', pid: 7, line: 'one' },
        { backend: 'Notes', pid: 7, line: 'two [redacted] \u{fffd}[1m' },
      ]);
    });

    it('is bounded in the length of its lines and in their number; what is left out is counted (T-156)', () => {
      const { lines, write, pass } = written();
      write(`${'x'.repeat(100_000)}\n${'y'.repeat(5000)}\n`);
      expect(lines.map(({ line }) => line)).toEqual([
        '(a line longer than 8192 bytes)',
        expect.stringMatching(/^y{500}… \(5000 characters\)$/),
      ]);
      write('flood\n'.repeat(1000));
      expect(lines).toHaveLength(200);
      pass(10_000);
      write('after\n');
      expect(lines.at(-1)).toMatchObject({ line: 'after', droppedLines: 802 });
    });
  });
});
