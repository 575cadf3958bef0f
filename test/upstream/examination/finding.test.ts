import { describe, expect, it } from 'vitest';
import { broken, doubtful, sound, untold } from '../../../src/upstream/examination/finding.ts';

describe('a finding about an upstream', () => {
  it('says what to change where something is to be changed, and only there', () => {
    expect(sound('UP-A', 'seen')).toEqual({ id: 'UP-A', verdict: 'pass', saw: 'seen' });
    expect(untold('UP-A', 'seen')).toEqual({ id: 'UP-A', verdict: 'unknown', saw: 'seen' });
    expect(broken('UP-A', 'seen', 'Mend it.')).toEqual({
      id: 'UP-A',
      verdict: 'fail',
      saw: 'seen',
      fix: 'Mend it.',
    });
    expect(doubtful('UP-A', 'seen', 'Mend it.').verdict).toBe('warn');
  });
});
