import { describe, expect, it } from 'vitest';
import { createSessionId, hashSessionId } from '../../../src/mcp/legacy/session.ts';

describe('the id of a session', () => {
  it('is of visible characters, 256 random bits behind the moment it was opened (B3-10)', () => {
    const before = Date.now();
    const ids = Array.from({ length: 100 }, createSessionId);
    for (const id of ids) expect(id).toMatch(/^[\da-z]{9}-[\w-]{43}$/);
    expect(new Set(ids.map((id) => id.slice(10))).size).toBe(100);
    const dates = ids.map((id) => Number.parseInt(id, 36));
    expect([...dates].sort((a, b) => a - b)).toEqual(dates);
    expect(dates[0]).toBeGreaterThanOrEqual(before);
    expect(dates.at(-1)).toBeLessThanOrEqual(Date.now());
  });
});

describe('the stored name of a session', () => {
  it('begins with its date, and says nothing else of the id', () => {
    const id = createSessionId();
    const name = hashSessionId(id);
    expect(name).toMatch(/^[\da-z]{9}[\w-]{43}$/);
    expect(name.slice(0, 9)).toBe(id.slice(0, 9));
    expect(name.slice(9)).not.toBe(id.slice(10));
    expect(hashSessionId(id)).toBe(name);
    expect(hashSessionId(createSessionId())).not.toBe(name);
  });

  it.each([
    '',
    'x',
    's'.repeat(43),
    `0MYWPIWW0-${'s'.repeat(43)}`,
    `0mywpiww0-${'s'.repeat(44)}`,
    '0mywpiww0-',
  ])('of %j, which is none of ours, is a hash alone, as of sessions from before', (id) => {
    expect(hashSessionId(id)).toMatch(/^[\w-]{43}$/);
  });
});
