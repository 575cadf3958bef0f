import { describe, expect, it } from 'vitest';
import { isInGrace } from '../../../src/authorization-server/engine/stored-rows.ts';

describe('a refresh token that was used', () => {
  it('may be sent again within the window, and not at its end or after a clock was set back (T-044, T-176)', () => {
    const asked = [1000, 1119, 940, 1120, 939].map((now) => isInGrace(1000, now, 120));
    expect(asked).toEqual([true, true, true, false, false]);
    expect(isInGrace(1000, 1000, 0)).toBe(false);
  });
});
