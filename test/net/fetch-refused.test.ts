import { describe, expect, it } from 'vitest';
import { type FetchFault, FetchRefused } from '../../src/net/fetch-refused.ts';

describe('a refused fetch', () => {
  it('may go well later where nothing is wrong with the target itself', () => {
    const faults: FetchFault[] = [
      'not_https',
      'not_public',
      'certificate',
      'redirected',
      'too_large',
      'encoded',
    ];
    const passing: FetchFault[] = ['unreachable', 'timeout', 'busy'];
    for (const fault of [...faults, ...passing])
      expect(new FetchRefused(fault, 'no').mayPass, fault).toBe(passing.includes(fault));
  });
});
