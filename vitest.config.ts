import { configDefaults, defineConfig } from 'vitest/config';

/** Browser tests need a Chromium; scripts/test finds it and names the tests that do not run without one. */
const withoutBrowser = process.env.CHROMIUM_PATH ? [] : ['test/browser/**'];

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...withoutBrowser],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // Tests leave the keychain of whoever runs them alone.
    env: { GATEHOUSE_STORE: 'plain' },
  },
});
