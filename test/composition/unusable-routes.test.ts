import { expect, it } from 'vitest';
import { findUnusableRoutes } from '../../src/composition/unusable-routes.ts';
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
