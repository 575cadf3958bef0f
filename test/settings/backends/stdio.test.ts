import { expect, it } from 'vitest';
import { stdioBackendSettings } from '../../../src/settings/backends/stdio.ts';

it('a program gets arguments and variables only as they are set, and fifty processes, one a session, an hour each', () => {
  const command = 'notes-server';
  expect(stdioBackendSettings.parse({ command })).toEqual({
    command,
    args: [],
    env: [],
    process: 'session',
    idleSeconds: 3600,
    spare: 0,
    maxAnswerValues: 50_000,
    pingSeconds: 30,
    maxProcesses: 50,
  });
  for (const env of [['TOKEN'], { TOKEN: 'secret' }])
    expect(stdioBackendSettings.parse({ command, env }).env).toEqual(env);
});

it.each([
  { command: '' },
  { command: ['notes-server'] },
  { command: 'a', args: 'b' },
  { command: 'a', env: ['A=b'] },
  { command: 'a', env: { 'A B': 'c' } },
  { command: 'a', maxProcesses: 0 },
  { command: 'a', process: 'principal' },
  { command: 'a', idleSeconds: 0 },
  { command: 'a', spare: 2 },
  { command: 'a', limits: { memory: 5 } },
  { command: 'a', sandbox: { readable: ['relative'] } },
])('a program is no %j', (value) => {
  expect(stdioBackendSettings.safeParse(value).success).toBe(false);
});
