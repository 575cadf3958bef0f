import { expect, it } from 'vitest';
import { createRetellingLogger } from '../../../../src/cli/commands/server/protect.ts';
import { createLogger } from '../../../../src/observability/logger.ts';

it('a warning of one sentence is told in other words; all else as it is', () => {
  const lines: string[] = [];
  const plain = createLogger('info', (line) => void lines.push(line));
  const logger = createRetellingLogger(plain, (sentence) => sentence.toUpperCase());
  logger.warn('about settings');
  logger.warn({ clientId: 'a' }, 'a client');
  logger.info('a server');
  logger.debug('too much');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warn', msg: 'ABOUT SETTINGS' },
    { level: 'warn', clientId: 'a', msg: 'a client' },
    { level: 'info', msg: 'a server' },
  ]);
  expect(lines).toHaveLength(3);
});
