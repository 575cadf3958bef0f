import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';
import { SecondTries } from './test/support/second-tries.ts';

/** Browser tests need a Chromium; scripts/test finds it and names the tests that do not run without one. */
const withoutBrowser = process.env.CHROMIUM_PATH ? [] : ['test/browser/**'];

/** Tests that start programs, or measure their own process: each file has a process of its own. */
const apart = ['test/flows/**', 'test/browser/**', 'test/conformance/**', 'test/house/**'];

/** Flows that do neither: their files share processes. */
const together = [
  'account',
  'authorization',
  'bond',
  'device',
  'discovery',
  'features',
  'machines',
  'registration',
  'token',
  'upstream',
].map((flow) => `test/flows/${flow}/*.test.ts`);

/**
 * Tests wait for programs, sockets and timers that share the machine with others. In continuous integration one that fails
 * is tried once more, and the report names it; elsewhere it fails at once.
 */
const retry = process.env.CI === 'true' ? 1 : 0;

export default defineConfig({
  test: {
    exclude: [...configDefaults.exclude, ...withoutBrowser],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    retry,
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new SecondTries()],
    // Tests leave the keychain of whoever runs them alone.
    env: { GATEHOUSE_STORE: 'plain' },
    projects: [
      {
        extends: true,
        test: {
          name: 'apart',
          include: apart.map((folder) => `${folder}/*.test.ts`),
          exclude: [...configDefaults.exclude, ...withoutBrowser, ...together],
          // They wait for their programs a good part of the time.
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'together', include: together, isolate: false, sequence: { groupOrder: 1 } },
      },
      {
        // The rooms share processes, as starting one takes longer than most of their files.
        extends: true,
        test: {
          name: 'rooms',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...apart],
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
