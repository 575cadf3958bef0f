import { describe, expect, it } from 'vitest';
import { type ClientRun, runClientSuite } from '../support/suite/client.ts';

/** On a busy machine; on an idle one a run takes half a minute. */
const patienceMs = 300_000;

async function requirePass(run: ClientRun): Promise<string[]> {
  const { scenarios, passed, report } = await runClientSuite(run);
  const complaints = scenarios.flatMap(({ name, complaints: all }) => all.map((one) => `${name}: ${one}`));
  expect(complaints, report).toEqual([]);
  expect(passed, report).toBe(true);
  return scenarios.map(({ name }) => name);
}

describe('the official conformance suite for clients, through the library itself', () => {
  it(
    'passes all of 2025-11-25 without a warning (A3-04, A3-05, A4-02, A4-03, A8-06, A8-07, A8-08, A8-11)',
    async () => {
      await requirePass({ requirements: '2025-11-25' });
    },
    patienceMs,
  );

  it(
    'passes all of 2026-07-28 without a warning, with the extensions for logins without a user and for bound tokens (A3-07, A3-09, A4-04, A5-01, A5-10, A6-08, A6-09, A9-02, A13-01, A13-02, A13-04, A13-05, A13-07, A13-09, A13-10)',
    async () => {
      const ran = await requirePass({ requirements: '2026-07-28' });
      expect(ran).toEqual(
        expect.arrayContaining([
          'auth/client-credentials-basic',
          'auth/client-credentials-jwt',
          'auth/enterprise-managed-authorization',
          'auth/dpop',
          'auth/dpop-nonce',
          'auth/wif-jwt-bearer',
        ]),
      );
    },
    patienceMs,
  );

  it(
    'passes what is for servers of 2025-03-26 (A2-01, A2-02, A2-05, A2-08)',
    async () => {
      await requirePass({ suite: 'backcompat' });
    },
    patienceMs,
  );
});
