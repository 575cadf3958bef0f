import { describe, expect, it, onTestFinished } from 'vitest';
import { ada } from '../../support/gatehouse.ts';
import { tryAccess } from '../../support/oauth.ts';
import { expectRefused, expectTokens } from '../token/subject.ts';
import { type EnterpriseSetUp, trustIdentityProvider } from './subject.ts';

// Over src/authorization-server/trusted-issuers/identity-grant.ts.

async function trusting(accounts: object): Promise<EnterpriseSetUp> {
  const setUp = await trustIdentityProvider({ accounts });
  onTestFinished(() => setUp.gatehouse.stop());
  return setUp;
}

/** Whose account a token is of, by its e-mail address. */
async function enter({ gatehouse, present, assertion }: EnterpriseSetUp, claims: object): Promise<string> {
  const { access_token: token } = await expectTokens(await present(await assertion({ ...claims })));
  expect(await tryAccess(gatehouse.mcpUrl, token)).toBe(200);
  const accepted = gatehouse.log
    .map((line) => JSON.parse(line))
    .findLast(({ audit }) => audit === 'identity.accepted');
  const all = await gatehouse.administration.accounts.list();
  return all.find(({ id }) => id === accepted.accountId)?.email ?? 'nobody';
}

async function expectNobody({ present, assertion }: EnterpriseSetUp, claims: object): Promise<void> {
  await expectRefused(await present(await assertion({ ...claims })), 'invalid_grant');
}

describe('the account of an asserted person', () => {
  it('is by the subject alone unless the operator says otherwise: an e-mail address is nobody’s proof (A13-08, T-104)', async () => {
    const setUp = await trusting({ subjects: { 'ada-at-idp': ada.email } });
    expect(await enter(setUp, { email: 'grace@example.com' })).toBe(ada.email);
    await expectNobody(setUp, { sub: 'mallory', email: ada.email, email_verified: true });
    await expectNobody(setUp, { sub: 'constructor' });
  });

  it('is found by an address of a domain the operator named, and by the subject from then on (A13-08)', async () => {
    const setUp = await trusting({ emailDomains: ['example.com'] });
    expect(await enter(setUp, { email: 'ADA@Example.com' })).toBe(ada.email);
    expect(await enter(setUp, {})).toBe(ada.email);
    await setUp.gatehouse.administration.accounts.add('grace@example.com', 'a very good password');
    expect(await enter(setUp, { email: 'grace@example.com' })).toBe(ada.email);
    expect(setUp.gatehouse.log.join('\n').match(/"account\.linked"/g)).toHaveLength(1);
  });

  it('is not given to the next who has its address, nor for an address that is not verified or not vouched for (T-104)', async () => {
    const setUp = await trusting({ emailDomains: ['example.com'] });
    await setUp.gatehouse.administration.accounts.add('eve@evil.example', 'a very good password');
    await expectNobody(setUp, { email: ada.email, email_verified: false });
    expect(await enter(setUp, { email: ada.email })).toBe(ada.email);
    await expectNobody(setUp, { sub: 'successor', email: ada.email });
    for (const email of [
      'eve@evil.example',
      'eve@evil.example@example.com',
      'ada@sub.example.com',
      'new@example.com',
      '',
      7,
    ])
      await expectNobody(setUp, { sub: 'eve', email });
  });

  it('is entered by a new sub only if email_verified is true, "true" or absent, and any other value links nothing (FA-15, T-215)', async () => {
    const setUp = await trusting({ emailDomains: ['example.com'], create: true });
    for (const email_verified of [false, 'false', 0, 1, null, 'no', 'yes', '', [true], { value: true }]) {
      await expectNobody(setUp, { sub: 'mallory', email: ada.email, email_verified });
      await expectNobody(setUp, { sub: 'mallory', email: 'new@example.com', email_verified });
    }
    await expectNobody(setUp, { sub: 'mallory', email: [ada.email], email_verified: true });
    expect(setUp.gatehouse.log.join('\n')).not.toMatch(/"account\.(linked|created)"/);
    expect(await enter(setUp, { email: ada.email, email_verified: 'true' })).toBe(ada.email);
    const grace = { email: 'grace@example.com', email_verified: true };
    expect(await enter(setUp, { sub: 'grace-at-idp', ...grace })).toBe('grace@example.com');
  });

  it('is made where the operator says so, once, with a password that nobody knows (A13-08)', async () => {
    const setUp = await trusting({ emailDomains: ['example.com'], create: true });
    const { gatehouse, present, assertion } = setUp;
    const grace = { sub: 'grace-at-idp', email: 'Grace@example.com' };
    await expectRefused(await present(await assertion(grace), { scope: 'admin:all' }), 'invalid_scope');
    expect(await gatehouse.administration.accounts.list()).toHaveLength(1);
    const assertions = await Promise.all(Array.from({ length: 6 }, () => assertion(grace)));
    const answers = await Promise.all(assertions.map((jwt) => present(jwt)));
    for (const [at, answer] of answers.entries()) {
      if (answer.status === 503) expect(answer.headers.get('retry-after')).toBe('1');
      const again = answer.status === 503 ? await present(assertions[at] ?? '') : answer;
      await expectTokens(again);
    }
    expect((await gatehouse.administration.accounts.list()).map(({ email }) => email)).toEqual([
      ada.email,
      'grace@example.com',
    ]);
    expect(await enter(setUp, grace)).toBe('grace@example.com');
    await expectNobody(setUp, { sub: 'mallory', email: 'm@elsewhere.example' });
  });

  it('that is disabled lets nobody in, however it is found (T-103)', async () => {
    const setUp = await trusting({ emailDomains: ['example.com'], create: true });
    await setUp.gatehouse.administration.accounts.add('grace@example.com', 'a very good password');
    await setUp.gatehouse.administration.accounts.disable('grace@example.com');
    await expectNobody(setUp, { sub: 'grace-at-idp', email: 'grace@example.com' });
    expect(await enter(setUp, { email: ada.email })).toBe(ada.email);
    await setUp.gatehouse.administration.accounts.disable(ada.email);
    await expectNobody(setUp, {});
  });
});
