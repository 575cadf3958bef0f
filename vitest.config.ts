import { configDefaults, defineConfig } from 'vitest/config';
import { FailedFiles } from './test/support/failed-files.ts';
import { filesLeftOut } from './test/support/flows-elsewhere.ts';
import { LongestFirst } from './test/support/longest-first.ts';
import { findPooler, findPostgres } from './test/support/postgres/find-postgres.ts';

/** Browser tests need a Chromium; scripts/test finds it and names the tests that do not run without one. */
const withoutBrowser = process.env.CHROMIUM_PATH ? [] : ['test/browser/**'];

/** Tests of the storage on PostgreSQL, and of several nodes on it; scripts/test says so if there is none. */
const withoutPostgres = findPostgres()
  ? []
  : [
      'test/storage/postgres/**',
      'test/storage/cop*',
      'test/flows/cluster/**',
      'test/flows/documented/postgresql*',
    ];

/** Tests with a pooler before PostgreSQL. */
const withoutPooler = findPooler() ? [] : ['test/**/pooled.test.ts'];

/** Tests that measure their own process, or replace a module of it: each file has one to itself. The others share theirs, as to start one takes longer. */
const apart = [
  'attacks/**/*',
  'flows/attacks/**/*',
  'flows/crosstalk/**/*',
  'flows/discovery/announced-documents',
  'flows/limits/**/*',
  'flows/token/secret-comparison',
].map((name) => `test/${name}.test.ts`);

/**
 * Loops of crashes and races, bounds on time, and files that need most of a minute: other people's programs and proxies,
 * outages of a database, variants of what shorter files check. `scripts/test --long` runs them, nightly and before a release.
 */
const long = [
  'bench/issuance-load',
  'browser/app-schemes',
  'browser/other-ports',
  'browser/tabs',
  'config/dockerfile',
  'flows/account/upstreams',
  'flows/attacks/wire',
  'flows/authorization/operator-endings',
  'flows/clients/connect',
  'flows/clients/gatehouse-cli',
  'flows/clients/login-beside-logins',
  'flows/clients/refresh-race',
  'flows/clients/sloppy-servers',
  'flows/cluster/changes',
  'flows/cluster/limiters',
  'flows/cluster/limits',
  'flows/cluster/outages',
  'flows/cluster/parked',
  'flows/cluster/paused',
  'flows/cluster/replaced',
  'flows/cluster/upgrade',
  'flows/crash/**/*',
  'flows/crosstalk/crosstalk',
  'flows/crosstalk/long-session',
  'flows/faults/**/*',
  'flows/gateway/endings',
  'flows/gateway/idle-ping',
  'flows/gateway/list-changes',
  'flows/gateway/modern-stdio',
  'flows/gateway/ping',
  'flows/gateway/real-servers',
  'flows/gateway/refused-keys',
  'flows/gateway/reload',
  'flows/gateway/several-credentials',
  'flows/limits/event-loop',
  'flows/limits/fairness',
  'flows/limits/held-memory',
  'flows/machines/extensions',
  'flows/peers/peers',
  'flows/profiles/profiles',
  'flows/proxies/attacks',
  'flows/proxies/examples',
  'flows/proxies/spoiled',
  'flows/proxies/streams',
  'flows/rest/crosstalk',
  'flows/restart/killed',
  'flows/token/client-key-urls',
  'flows/token/grace',
  'flows/token/rounds',
  'flows/upstream/admission',
  'flows/upstream/misbehaviour',
  'storage/copy.large',
  'storage/sqlite/stores/calls.large',
].map((name) => `test/${name}.test.ts`);
const excluded = [
  ...configDefaults.exclude,
  ...withoutBrowser,
  ...withoutPostgres,
  ...withoutPooler,
  ...(process.env.GATEHOUSE_TEST_LONG ? [] : long),
  ...filesLeftOut(process.env.GATEHOUSE_TEST_STORAGE),
];

export default defineConfig({
  test: {
    exclude: excluded,
    // No bound of the product: a machine with other work takes several times as long.
    testTimeout: 120_000,
    hookTimeout: 240_000,
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new FailedFiles()],
    // Tests leave the keychain of whoever runs them alone.
    env: { GATEHOUSE_STORE: 'plain' },
    projects: [
      { extends: true, test: { name: 'apart', include: apart } },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...excluded, ...apart],
          isolate: false,
        },
      },
    ],
  },
});
