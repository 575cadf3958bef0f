import { describe, expect, it } from 'vitest';
import { authorizationScenarios, runAuthorizationSuite } from '../support/suite/authorization.ts';
import { revisions, runServerSuite } from '../support/suite/server.ts';

describe('the official conformance suite for authorization servers', () => {
  it.each(['none', 'client_secret_basic', 'client_secret_post'] as const)(
    'passes both scenarios, start to token, with a client that authenticates by %s',
    async (method) => {
      const { scenarios, passed, report } = await runAuthorizationSuite(method);
      expect(
        scenarios.map(({ name }) => name),
        report,
      ).toEqual([...authorizationScenarios]);
      expect(passed, report).toBe(true);
    },
    60_000,
  );
});

/** Scenarios of an extension that the suite runs and does not count. */
const notServed = 'tasks-';

describe('the official conformance suite for servers', () => {
  it.each(revisions)(
    'passes all that %s requires, through the protected endpoint',
    async (revision) => {
      const { scenarios, passed, report } = await runServerSuite(revision);
      expect(passed, report).toBe(true);
      expect(scenarios.length).toBeGreaterThanOrEqual(30);
      const failed = scenarios.filter((scenario) => scenario.failed > 0).map(({ name }) => name);
      expect(
        failed.filter((name) => !name.startsWith(notServed)),
        report,
      ).toEqual([]);
    },
    120_000,
  );
});
