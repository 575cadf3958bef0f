import { describe, expect, it } from 'vitest';
import { countConsents } from '../../../src/doctor/login/consents.ts';
import { activeSections, examineActively, headlessLogin } from '../support/login.ts';

describe('how often the user is asked', () => {
  it('is at most twice, and said beforehand', async () => {
    const login = headlessLogin();
    await examineActively(undefined, { login });
    expect(countConsents(activeSections)).toBe(2);
    expect(login.asked).toHaveLength(2);
  });

  it('is as was said for every single check', async () => {
    for (const { id } of activeSections) {
      const login = headlessLogin({ reuseAfterSeconds: [0], revokedAfterSeconds: [0] });
      const only = [id];
      const { findings } = await examineActively(undefined, { only, login });
      const ran = activeSections.filter((check) => findings.some((finding) => finding.id === check.id));
      expect([id, login.asked.length]).toEqual([
        id,
        countConsents(ran.filter((check) => only.includes(check.id))),
      ]);
    }
  });

  it('is not at all without --active', async () => {
    expect(countConsents([{ id: 'REG-LOOPBACK-PORT' }, { id: 'LOGIN-PKCE' }])).toBe(0);
  });
});
