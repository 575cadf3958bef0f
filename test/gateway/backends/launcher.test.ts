import { describe, expect, it, onTestFinished } from 'vitest';
import { createLauncher } from '../../../src/gateway/backends/launcher.ts';
import { StdioProcess } from '../../../src/gateway/backends/stdio-process.ts';
import { createWatchdog } from '../../../src/gateway/backends/watchdog.ts';
import type { CredentialSource } from '../../../src/gateway/credentials/credentials.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { callerNamed } from '../../mcp/sdk/support/talk.ts';

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
