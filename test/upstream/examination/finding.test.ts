import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  broken,
  doubtful,
  needsLogin,
  reasonFixes,
  sound,
} from '../../../src/upstream/examination/finding.ts';
import { upstreamReasons } from '../../../src/upstream/upstream-fault.ts';

describe('a finding about an upstream', () => {
  it('says what to change where something is to be changed, and only there', () => {
    expect(sound('UP-A', 'seen')).toEqual({ id: 'UP-A', verdict: 'pass', saw: 'seen' });
    expect(needsLogin('UP-A', 'seen')).toEqual({ id: 'UP-A', verdict: 'unknown', saw: 'seen' });
    expect(broken('UP-A', 'seen', 'Mend it.')).toEqual({
      id: 'UP-A',
      verdict: 'fail',
      saw: 'seen',
      fix: 'Mend it.',
    });
    expect(doubtful('UP-A', 'seen', 'Mend it.').verdict).toBe('warn');
  });
});

describe('the fix of a fault of an upstream', () => {
  it('is there for each reason, as a sentence', () => {
    expect(Object.keys(reasonFixes)).toEqual(Object.keys(upstreamReasons));
    for (const [reason, fix] of Object.entries(reasonFixes)) expect(fix, reason).toMatch(/^[A-Z].*\.$/s);
  });

  it('is found by its name in the documentation', () => {
    const page = readFileSync('docs/upstreams-reference.md', 'utf8');
    for (const reason of Object.keys(reasonFixes)) expect(page, reason).toContain(`\`${reason}\``);
  });
});
