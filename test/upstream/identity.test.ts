import { describe, expect, it } from 'vitest';
import { identityFromClaims, identityFromUserInfo, primaryAddress } from '../../src/upstream/identity.ts';
import { entra, google } from '../../src/upstream/presets.ts';
import type { UpstreamFaultKind, UpstreamReason } from '../../src/upstream/upstream-fault.ts';
import { faults } from '../support/upstreams/front.ts';
import { omar } from '../support/upstreams/people.ts';
import { logIn, useWork } from './subject.ts';

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
    expect(identityFromClaims(issuer, claims, {}, standard).email).toBe(email);
  });

  it('takes an address and its verification of one source: none lends it to the other (T-089)', () => {
    const idToken = { sub: '1', email: 'ada@example.com' };
    const userInfo = { sub: '1', email: 'lin@work.example', email_verified: true };
    const identity = identityFromClaims(issuer, idToken, userInfo, standard);
    expect(identity.email).toBeUndefined();
    expect(identity.claims).toEqual({});
    expect(identityFromClaims(issuer, { sub: '1' }, userInfo, standard).email).toBe('lin@work.example');
  });

  it('has among its claims only an address that was verified: rules of the operator go by them (T-089)', () => {
    const claims = { sub: '1', email: 'Lin@Work.example' };
    expect(identityFromClaims(issuer, claims, {}, standard).claims).toEqual({});
    const verified = { ...claims, email_verified: true };
    expect(identityFromClaims(issuer, verified, {}, standard).claims.email).toBe('lin@work.example');
    const mapping = { subject: 'id', email: 'mail', emailVerified: 'ok' };
    const answer = { id: 7, email: 'a@b.example', mail: 'ada@example.com' };
    expect(identityFromUserInfo(issuer, answer, mapping)?.claims).toEqual({ id: 7 });
    expect(identityFromUserInfo(issuer, { ...answer, ok: true }, mapping)?.claims.email).toBe(
      'ada@example.com',
    );
    expect(identityFromUserInfo(issuer, answer, { subject: 'id' }, 'c@d.example')?.claims.email).toBe(
      'c@d.example',
    );
  });

  it('keeps what is about the person, and nothing of the token; what is signed stands over what is not', () => {
    const idToken = { sub: '1', iss: issuer, aud: 'c', nonce: 'n', at_hash: 'h', exp: 1, groups: ['staff'] };
    const userInfo = { sub: '1', name: 'Lin', groups: ['admins'] };
    expect(identityFromClaims(issuer, idToken, userInfo, standard)).toEqual({
      issuer,
      subject: '1',
      name: 'Lin',
      claims: { name: 'Lin', groups: ['staff'] },
    });
  });

  it('whose ID token has no address is not verified by the ID token: a rule on email_verified reads the source of the address (FA-15, T-215)', () => {
    const idToken = { sub: '1', email_verified: true };
    const userInfo = { sub: '1', email: 'lin@work.example', email_verified: false };
    const identity = identityFromClaims(issuer, idToken, userInfo, standard);
    expect(identity.email).toBeUndefined();
    expect(identity.claims).toEqual({ email_verified: false });
  });

  it('has no address if the issuer sends a list of addresses (FA-15, T-215)', () => {
    for (const preset of [standard, google]) {
      const claims = { sub: '1', email: ['lin@gmail.com'], email_verified: true, hd: ['work.example'] };
      expect(identityFromClaims(issuer, claims, {}, preset).email).toBeUndefined();
    }
    const claims = { sub: '1', email: 'lin@work.example', email_verified: true, hd: ['work.example'] };
    expect(identityFromClaims(issuer, claims, {}, google).email).toBeUndefined();
    expect(
      identityFromClaims(issuer, { ...claims, hd: 'work.example', email_verified: 'true' }, {}, google).email,
    ).toBe('lin@work.example');
  });

  it('at Entra has an address only where its domain was verified (T-089)', () => {
    const claims = { sub: '1', email: 'lin@work.example', email_verified: true };
    expect(identityFromClaims(issuer, claims, {}, entra).email).toBeUndefined();
    expect(identityFromClaims(issuer, { ...claims, xms_edov: '1' }, {}, entra).email).toBe(
      'lin@work.example',
    );
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
    expect(identityFromUserInfo(issuer, answer, mapping)).toMatchObject({
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
    expect(identityFromUserInfo(issuer, answer, mapping)).toBeUndefined();
  });

  it('has no members but its own', () => {
    expect(identityFromUserInfo(issuer, {}, { subject: 'constructor.name' })).toBeUndefined();
  });

  it('has an address that was verified, or none (T-089, FA-15, T-215)', () => {
    const answer = { id: 1, mail: 'a@b.example', ok: 'true' };
    const plain = { subject: 'id', email: 'mail' };
    expect(identityFromUserInfo(issuer, answer, plain)?.email).toBeUndefined();
    const checked = { ...plain, emailVerified: 'ok' };
    expect(identityFromUserInfo(issuer, answer, checked)?.email).toBe('a@b.example');
    for (const ok of [false, 'false', 1, null, 'yes', [true], undefined])
      expect(identityFromUserInfo(issuer, { ...answer, ok }, checked)?.email).toBeUndefined();
    expect(identityFromUserInfo(issuer, answer, plain, 'c@d.example')?.email).toBe('c@d.example');
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

describe('user info', () => {
  const at = useWork();

  describe('a user-info endpoint', () => {
    it.each<[string, () => void, UpstreamReason, UpstreamFaultKind]>([
      [
        'about somebody else',
        () => at.work.alter('/me', (body) => ({ ...body, sub: omar.sub })),
        'user_info_subject',
        'refused',
      ],
      [
        'about nobody',
        () => at.work.alter('/me', ({ sub: _gone, ...rest }) => rest),
        'user_info_subject',
        'refused',
      ],
      [
        'that does not know the token',
        () => at.work.fault('/me', faults.json(401, {})),
        'user_info_refused',
        'refused',
      ],
      ['with broken JSON', () => at.work.fault('/me', faults.notJson()), 'user_info_malformed', 'refused'],
      ['that fails', () => at.work.fault('/me', faults.page()), 'server_error', 'unavailable'],
    ])('%s logs nobody in (T-085)', async (_what, arrange, reason, kind) => {
      arrange();
      await at.expectRefused(logIn(await at.client()), reason, kind);
    });
  });
});
