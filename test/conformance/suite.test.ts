import { describe, expect, it } from 'vitest';
import { authorizationScenarios, runAuthorizationSuite } from '../support/conformance.ts';

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
