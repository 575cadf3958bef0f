import { describe, expect, it } from 'vitest';
import { loginSettings } from '../../src/settings/login.ts';

describe('the settings of logins', () => {
  it('keep a login for two weeks, a week where it is not used, and a device code for ten minutes', () => {
    expect(loginSettings.parse(undefined)).toEqual({
      sessionSeconds: 1_209_600,
      sessionIdleSeconds: 604_800,
      pageSeconds: 3600,
      deviceFlow: true,
      deviceCodeSeconds: 600,
    });
  });

  it.each([
    { sessionSeconds: 90 * 86_400 + 1 },
    { sessionIdleSeconds: 0 },
    { pageSeconds: 86_401 },
    { deviceCodeSeconds: 1801 },
    { deviceFlow: 'on' },
  ])('refuse %j', (value) => {
    expect(loginSettings.safeParse(value).success).toBe(false);
  });
});
