import { describe, expect, it } from 'vitest';
import { secondLogin, spareSession } from '../../../src/doctor/login/second-session.ts';
import { firstSession } from '../../../src/doctor/login/session.ts';
import { atGrant, refusal } from '../support/active-faults.ts';
import { headlessLogin } from '../support/login.ts';
import { subjectOf } from '../support/subject.ts';

describe('the second login', () => {
  it('redeems its code with a wrong verifier, with a wrong redirect URI, and rightly', async () => {
    const { subject, server } = await subjectOf();
    const second = await subject.fact(secondLogin);
    expect(second).toMatchObject({
      kind: 'tried',
      wrongVerifier: { error: 'invalid_grant' },
      wrongRedirect: { error: 'invalid_grant' },
      session: { kind: 'open' },
    });
    expect(server.asked().filter((line) => line === 'POST /token')).toHaveLength(4);
  });

  it('keeps the tokens of a wrong redemption that was taken, and does not redeem again', async () => {
    const { subject, server } = await subjectOf((one) => {
      one.rules.checksVerifier = false;
    });
    const second = await subject.fact(secondLogin);
    expect(second).toMatchObject({ kind: 'tried', session: { kind: 'open' } });
    expect(second).not.toHaveProperty('wrongRedirect');
    expect(server.asked().filter((line) => line === 'POST /token')).toHaveLength(2);
  });

  it('is not asked for where the first did not come to an end', async () => {
    const login = headlessLogin();
    const { subject } = await subjectOf(
      atGrant('authorization_code', () => refusal('server_error')),
      { login },
    );
    expect(await subject.fact(secondLogin)).toMatchObject({ kind: 'missing' });
    expect(login.asked).toHaveLength(1);
  });

  it('gives way to the first where its code is lost', async () => {
    let redeemed = 0;
    const { subject } = await subjectOf(
      atGrant('authorization_code', (reply) => (++redeemed > 1 ? refusal('invalid_grant') : reply)),
    );
    expect(await subject.fact(spareSession)).toBe(await subject.fact(firstSession));
  });
});
