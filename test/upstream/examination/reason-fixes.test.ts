import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { reasonFixes } from '../../../src/upstream/examination/reason-fixes.ts';
import { upstreamReasons } from '../../../src/upstream/upstream-fault.ts';

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
