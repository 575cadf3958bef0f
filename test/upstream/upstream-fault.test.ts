import { describe, expect, it } from 'vitest';
import { UpstreamFault, upstreamReasons } from '../../src/upstream/upstream-fault.ts';

describe('a fault of an upstream', () => {
  it('says in our words what is wrong, where, and what it means', () => {
    const fault = new UpstreamFault('work', 'unavailable', 'timed_out', 'token endpoint');
    expect(fault).toMatchObject({ upstream: 'work', kind: 'unavailable', reason: 'timed_out' });
    expect(fault.message).toBe('upstream work: it did not answer in time (token endpoint)');
  });

  it('has one name and one sentence for each thing that can be wrong', () => {
    const sentences = Object.values(upstreamReasons);
    expect(new Set(sentences).size).toBe(sentences.length);
  });
});
