import { describe, expect, it } from 'vitest';
import { identityOfClaims, identityOfUserInfo, primaryAddress } from '../../src/upstream/identity.ts';
import { entra } from '../../src/upstream/presets/entra.ts';
import { google } from '../../src/upstream/presets/google.ts';

const standard = { label: 'A', defaults: {} };
const issuer = 'https://idp.example';

describe('who somebody is by the claims of an ID token', () => {
  it.each([
    [true, 'lin@work.example'],
    ['true', 'lin@work.example'],
    [false, undefined],
    ['false', undefined],
    ['yes', undefined],
    [1, undefined],
    [null, undefined],
    [[true], undefined],
    [undefined, undefined],
  ])('with email_verified %j has the address %s (T-089, FA-15, T-215)', (verified, email) => {
    const claims = { sub: '1', email: 'Lin@Work.example', email_verified: verified };
    expect(identityOfClaims(issuer, claims, {}, standard).email).toBe(email);
  });

  it('takes an address and its verification of one source: none lends it to the other (T-089)', () => {
    const idToken = { sub: '1', email: 'ada@example.com' };
    const userInfo = { sub: '1', email: 'lin@work.example', email_verified: true };
    const identity = identityOfClaims(issuer, idToken, userInfo, standard);
    expect(identity.email).toBeUndefined();
    expect(identity.claims).toEqual({});
    expect(identityOfClaims(issuer, { sub: '1' }, userInfo, standard).email).toBe('lin@work.example');
  });

  it('has among its claims only an address that was verified: rules of the operator go by them (T-089)', () => {
    const claims = { sub: '1', email: 'Lin@Work.example' };
    expect(identityOfClaims(issuer, claims, {}, standard).claims).toEqual({});
    const verified = { ...claims, email_verified: true };
    expect(identityOfClaims(issuer, verified, {}, standard).claims.email).toBe('lin@work.example');
    const mapping = { subject: 'id', email: 'mail', emailVerified: 'ok' };
    const answer = { id: 7, email: 'a@b.example', mail: 'ada@example.com' };
    expect(identityOfUserInfo(issuer, answer, mapping)?.claims).toEqual({ id: 7 });
    expect(identityOfUserInfo(issuer, { ...answer, ok: true }, mapping)?.claims.email).toBe(
      'ada@example.com',
    );
    expect(identityOfUserInfo(issuer, answer, { subject: 'id' }, 'c@d.example')?.claims.email).toBe(
      'c@d.example',
    );
  });

  it('keeps what is about the person, and nothing of the token; what is signed stands over what is not', () => {
    const idToken = { sub: '1', iss: issuer, aud: 'c', nonce: 'n', at_hash: 'h', exp: 1, groups: ['staff'] };
    const userInfo = { sub: '1', name: 'Lin', groups: ['admins'] };
    expect(identityOfClaims(issuer, idToken, userInfo, standard)).toEqual({
      issuer,
      subject: '1',
      name: 'Lin',
      claims: { name: 'Lin', groups: ['staff'] },
    });
  });

  it('whose ID token has no address is not verified by the ID token: a rule on email_verified reads the source of the address (FA-15, T-215)', () => {
    const idToken = { sub: '1', email_verified: true };
    const userInfo = { sub: '1', email: 'lin@work.example', email_verified: false };
    const identity = identityOfClaims(issuer, idToken, userInfo, standard);
    expect(identity.email).toBeUndefined();
    expect(identity.claims).toEqual({ email_verified: false });
  });

  it('has no address if the issuer sends a list of addresses (FA-15, T-215)', () => {
    for (const preset of [standard, google]) {
      const claims = { sub: '1', email: ['lin@gmail.com'], email_verified: true, hd: ['work.example'] };
      expect(identityOfClaims(issuer, claims, {}, preset).email).toBeUndefined();
    }
    const claims = { sub: '1', email: 'lin@work.example', email_verified: true, hd: ['work.example'] };
    expect(identityOfClaims(issuer, claims, {}, google).email).toBeUndefined();
    expect(
      identityOfClaims(issuer, { ...claims, hd: 'work.example', email_verified: 'true' }, {}, google).email,
    ).toBe('lin@work.example');
  });

  it('at Entra has an address only where its domain was verified (T-089)', () => {
    const claims = { sub: '1', email: 'lin@work.example', email_verified: true };
    expect(identityOfClaims(issuer, claims, {}, entra).email).toBeUndefined();
    expect(identityOfClaims(issuer, { ...claims, xms_edov: '1' }, {}, entra).email).toBe('lin@work.example');
  });
});

describe('who somebody is by an answer of another form', () => {
  const mapping = {
    subject: 'user.id',
    email: 'user.mail',
    emailVerified: 'user.ok',
    name: 'user.name',
    groups: 'teams',
  };

  it('is read by the paths that were set', () => {
    const answer = { user: { id: 7, mail: 'a@b.example', ok: true, name: 'A' }, teams: ['x'] };
    expect(identityOfUserInfo(issuer, answer, mapping)).toMatchObject({
      issuer,
      subject: '7',
      email: 'a@b.example',
      name: 'A',
      claims: { groups: ['x'] },
    });
  });

  it.each([
    {},
    { user: {} },
    { user: { id: '' } },
    { user: { id: 1.5 } },
    { user: null },
    { user: { id: {} } },
  ])('is nobody by %j', (answer) => {
    expect(identityOfUserInfo(issuer, answer, mapping)).toBeUndefined();
  });

  it('has no members but its own', () => {
    expect(identityOfUserInfo(issuer, {}, { subject: 'constructor.name' })).toBeUndefined();
  });

  it('has an address that was verified, or none (T-089, FA-15, T-215)', () => {
    const answer = { id: 1, mail: 'a@b.example', ok: 'true' };
    const plain = { subject: 'id', email: 'mail' };
    expect(identityOfUserInfo(issuer, answer, plain)?.email).toBeUndefined();
    const checked = { ...plain, emailVerified: 'ok' };
    expect(identityOfUserInfo(issuer, answer, checked)?.email).toBe('a@b.example');
    for (const ok of [false, 'false', 1, null, 'yes', [true], undefined])
      expect(identityOfUserInfo(issuer, { ...answer, ok }, checked)?.email).toBeUndefined();
    expect(identityOfUserInfo(issuer, answer, plain, 'c@d.example')?.email).toBe('c@d.example');
  });
});

describe('a list of addresses', () => {
  it('gives the first one of the person, where that was verified (T-089)', () => {
    const entry = { email: 'A@b.example', primary: true, verified: true };
    expect(primaryAddress([{ ...entry, email: 'x@y.example', primary: false }, entry])).toBe('a@b.example');
    expect(primaryAddress([{ ...entry, verified: false }])).toBeUndefined();
    expect([
      primaryAddress([null, 1]),
      primaryAddress({}),
      primaryAddress([{ ...entry, email: 'no' }]),
    ]).toEqual([undefined, undefined, undefined]);
  });
});
