import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { findUnusableRoutes } from '../../src/composition/settings-check.ts';
import { parseSettings } from '../../src/options.ts';

it('routes that a server would not start with are found without starting anything', async () => {
  const settings = parseSettings({
    routes: {
      good: { backend: { command: '/there/is/no/such/program' } },
      keyless: {
        backend: { command: 'a' },
        credentials: { key: { as: { env: 'KEY' }, from: { env: 'NO_KEY_ANYWHERE' } } },
      },
      bad: { backend: { command: 'a', env: ['NOT_SET_ANYWHERE'] } },
    },
  });
  expect(await findUnusableRoutes(settings, {})).toEqual([
    expect.stringMatching(/^routes\.keyless\.credentials\.key\.from: .*NO_KEY_ANYWHERE/),
    expect.stringMatching(/^routes\.bad\.backend: .*NOT_SET_ANYWHERE/),
  ]);
});

it('a spare process is not started either, not even where another backend of the route cannot be had', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-spare-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const begun = join(folder, 'begun');
  const spare = { command: '/bin/sh', args: ['-c', 'touch "$0"', begun], spare: 1 };
  const broken = { command: 'x', env: ['NO_SUCH_VARIABLE_AT_ALL'] };
  const { routes, upstreams } = parseSettings({
    routes: { alone: { backend: spare }, several: { backends: { a: spare, b: broken } } },
  });
  const problems = await findUnusableRoutes({ routes, upstreams }, process.env);
  expect(problems).toEqual([expect.stringContaining('NO_SUCH_VARIABLE_AT_ALL')]);
  await pause(300);
  expect(existsSync(begun)).toBe(false);
});
