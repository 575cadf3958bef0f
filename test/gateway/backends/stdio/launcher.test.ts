import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLauncher, createSpare } from '../../../../src/gateway/backends/stdio/launcher.ts';
import { createWatchdog } from '../../../../src/gateway/backends/stdio/process-groups.ts';
import { type ProcessListener, StdioProcess } from '../../../../src/gateway/backends/stdio/stdio-process.ts';
import type { CredentialSource } from '../../../../src/gateway/credentials/credentials.ts';
import { createLogger } from '../../../../src/observability/logger.ts';
import { callerNamed } from '../../../mcp/sdk/support/talk.ts';

function start(credentials: CredentialSource, logger = createLogger('silent')) {
  const watchdog = createWatchdog(logger);
  onTestFinished(() => watchdog.close());
  return createLauncher({
    name: 'Notes',
    command: 'sh',
    args: ['-c', 'echo "$TOKEN"'],
    env: { PATH: String(process.env.PATH), TOKEN: 'of-everybody' },
    secrets: [],
    maxLineBytes: 1000,
    patience: { byItselfMs: 500, afterTermMs: 500 },
    watchdog,
    logger,
    nowMs: () => performance.now(),
    credentials,
  });
}

async function says(launched: StdioProcess | { error: unknown }): Promise<string> {
  if (!(launched instanceof StdioProcess)) throw new Error('nothing was launched');
  onTestFinished(() => launched.end());
  return new Promise((resolve) => {
    launched.listener = {
      line: (bytes) => resolve(Buffer.from(bytes).toString()),
      tooLong: () => undefined,
      gone: () => undefined,
    };
  });
}

describe('the launcher of processes', () => {
  const credentials: CredentialSource = {
    find: ({ subject }) =>
      Promise.resolve(
        subject === 'ann'
          ? { env: { TOKEN: 'of-ann' } }
          : { error: { code: -32000, message: 'Enter a token.' } },
      ),
    onChange: () => () => undefined,
  };

  it('gives each account its own credentials as environment', async () => {
    const launcher = start(credentials);
    expect(await says(await launcher.launch(callerNamed('ann')))).toBe('of-ann');
    expect(await says(await launcher.launch(undefined))).toBe('of-everybody');
  });

  it('logs why nothing could be started, for whatever asks it', async () => {
    const log: string[] = [];
    const { launch } = start(
      { find: () => Promise.reject(new Error('the store is closed')), onChange: () => () => undefined },
      createLogger('error', (line) => log.push(line)),
    );
    await expect(launch(callerNamed('ann'))).rejects.toThrow('the store is closed');
    expect(log.join('')).toContain('a backend could not be started');
  });

  it('starts nothing for an account that has none, and says why', async () => {
    const { launch } = start(credentials);
    expect(await launch(callerNamed('bob'))).toEqual({ error: { code: -32000, message: 'Enter a token.' } });
  });
});

describe('a spare process', () => {
  /** @param turns of the event loop to wait */
  async function start(turns = 1) {
    const started: { isGone: boolean; listener: ProcessListener | undefined; end: () => Promise<void> }[] =
      [];
    const spare = createSpare(() => {
      const process = { isGone: false, listener: undefined, end: vi.fn(() => Promise.resolve()) };
      started.push(process);
      return process as unknown as StdioProcess;
    });
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    return { spare, started };
  }

  describe('a spare process', () => {
    it('is started before anybody needs it, and given to one only', async () => {
      const { spare, started } = await start();
      expect([started.length, spare.count]).toEqual([1, 1]);
      expect(spare.take()).toBe(started[0]);
      expect(spare.take()).toBeUndefined();
      expect(spare.count).toBe(0);
    });

    it('is replaced a second after it was taken', async () => {
      const { spare, started } = await start();
      vi.useFakeTimers();
      spare.take();
      vi.advanceTimersByTime(999);
      expect(started).toHaveLength(1);
      vi.advanceTimersByTime(1);
      expect([started.length, spare.count]).toEqual([2, 1]);
      spare.close();
      expect(started[1]?.end).toHaveBeenCalledOnce();
      vi.advanceTimersByTime(5000);
      expect(started).toHaveLength(2);
      vi.useRealTimers();
    });

    it('that ends by itself is not given to anybody, and not started without end', async () => {
      const { spare, started } = await start();
      vi.useFakeTimers();
      started[0]?.listener?.gone();
      vi.advanceTimersByTime(60_000);
      expect([started.length, spare.count]).toEqual([1, 0]);
      expect(spare.take()).toBeUndefined();
      vi.advanceTimersByTime(1000);
      expect(spare.count).toBe(1);
      vi.useRealTimers();
    });

    it('is not started where it is closed at once: settings that are only looked at start nothing', async () => {
      const { spare, started } = await start(0);
      spare.close();
      await new Promise((resolve) => setImmediate(resolve));
      expect(started).toEqual([]);
    });
  });
});
