import { configDefaults, defineConfig } from 'vitest/config';

/** Browser tests need a Chromium; scripts/test finds it and names the tests that do not run without one. */
const withoutBrowser = process.env.CHROMIUM_PATH ? [] : ['test/browser/**'];

/** Tests that start programs, or measure their own process: each file has a process of its own. */
const apart = ['test/flows/**', 'test/browser/**', 'test/conformance/**', 'test/house/**'];

export default defineConfig({
  test: {
    exclude: [...configDefaults.exclude, ...withoutBrowser],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // Tests leave the keychain of whoever runs them alone.
    env: { GATEHOUSE_STORE: 'plain' },
    projects: [
      {
        extends: true,
        test: { name: 'apart', include: apart.map((folder) => `${folder}/*.test.ts`) },
      },
      {
        // The rooms share processes, as starting one takes longer than most of their files.
        extends: true,
        test: {
          name: 'rooms',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...apart],
          isolate: false,
        },
      },
    ],
  },
});
