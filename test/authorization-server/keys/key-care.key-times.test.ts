import { describe, expect, it } from 'vitest';
import { keyTimes } from '../../../src/authorization-server/keys/key-care.ts';

const lifetimes = {
  accessTokenSeconds: 3600,
  codeSeconds: 60,
  refreshTokenSeconds: 86_400,
  grantSeconds: 864_000,
  sessionIdleSeconds: 1,
  sessionSeconds: 50_000,
  interactionSeconds: 3600,
  deviceCodeSeconds: 600,
};

describe('the times of keys', () => {
  it('are those of the settings, in seconds, and 0 for never', () => {
    expect(
      keyTimes({ signingDays: 90, cookieDays: 1, sealingDays: 0 }, lifetimes, []).rotateAfterSeconds,
    ).toEqual({
      signing: 90 * 86_400,
      cookies: 86_400,
      sealing: 0,
    });
  });

  it('keep a key for longer than what it signed lives (T-178)', () => {
    const { keepSeconds } = keyTimes({ signingDays: 1, cookieDays: 1, sealingDays: 1 }, lifetimes, []);
    expect(keepSeconds.signing).toBeGreaterThan(3600);
    expect(keepSeconds.cookies).toBeGreaterThan(50_000);
  });

  it('keep a signing key also for the resource whose tokens live longest (T-178)', () => {
    const resources = [{ accessTokenSeconds: 300 }, { accessTokenSeconds: 86_400 }, {}];
    const { keepSeconds } = keyTimes({ signingDays: 1, cookieDays: 1, sealingDays: 1 }, lifetimes, resources);
    expect(keepSeconds.signing).toBeGreaterThan(86_400);
  });
});
