import { expect, it } from 'vitest';
import {
  revocationRetrySeconds,
  unboundTokensSeconds,
  unusedUpstreamSessionSeconds,
} from '../../src/storage/upstreams.ts';

it('times of upstreams: tokens wait for a grant as long as pages may take, a revocation is tried for a day (A10-02)', () => {
  expect(unboundTokensSeconds).toBe(600);
  expect(unusedUpstreamSessionSeconds).toBeGreaterThan(unboundTokensSeconds);
  expect(revocationRetrySeconds).toBe(24 * 3600);
});
