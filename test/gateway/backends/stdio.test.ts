import { describe, expect, it } from 'vitest';
import { createStdioBackend } from '../../../src/gateway/backends/stdio.ts';
import { createLogger } from '../../../src/observability/logger.ts';

describe('a backend', () => {
  const logger = createLogger('silent');

  it('is refused where it may have no process, or is to be given what is not set', () => {
    expect(() => createStdioBackend('a', { command: 'true', maxProcesses: 0 }, { logger })).toThrow(
      RangeError,
    );
    expect(() => createStdioBackend('a', { command: 'true', env: ['NOT_SET_ANYWHERE'] }, { logger })).toThrow(
      'The environment has no NOT_SET_ANYWHERE',
    );
  });

  it('starts nothing before it is needed', () => {
    const backend = createStdioBackend('a', { command: '/nowhere' }, { logger });
    void backend.source.create({ era: 'legacy' });
    expect(backend.status()).toEqual({ kind: 'stdio', state: 'idle', processes: 0, failures: { count: 0 } });
    backend.close();
  });
});
