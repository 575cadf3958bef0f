import { describe, expect, it } from 'vitest';
import { isLong } from '../support/share.ts';
import { allGatewayRuns, runGatewaySuite } from '../support/suite/gateway.ts';
import { gatewayLimits, limitsOf } from './gateway-limits.ts';

/**
 * What proves most in the least time; scripts/conformance runs all. By stdio each scenario of 2025-11-25 has to start a
 * process.
 */
const daily = ['stdio 2026-07-28', 'http 2025-11-25'];
const quick = [...daily, ...(isLong ? ['modern-stdio 2026-07-28', 'modern 2026-07-28'] : [])];
const runs = allGatewayRuns().filter(({ backend, revision }) => quick.includes(`${backend} ${revision}`));

describe('the official conformance suite for servers, through the gateway', () => {
  it.each(runs)(
    'passes all of $revision that a backend by $backend can carry, and what it cannot stands in a list with its reason (B7-16, C4-06)',
    async (run) => {
      const { scenarios, report } = await runGatewaySuite(run, limitsOf(run));
      const complaints = scenarios.flatMap(({ name, complaints }) =>
        complaints.map((one) => `${name}: ${one}`),
      );
      expect(complaints, report).toEqual([]);
      expect(scenarios.length).toBeGreaterThan(25);
    },
    300_000,
  );

  it('has a reason for each limit', () => {
    expect(gatewayLimits.filter(({ reason, checks }) => reason.trim() === '' || checks.length === 0)).toEqual(
      [],
    );
  });
});
