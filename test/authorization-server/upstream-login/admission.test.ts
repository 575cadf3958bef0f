import { describe, expect, it } from 'vitest';
import {
  checkAdmission,
  domainOf,
  hasClaim,
} from '../../../src/authorization-server/upstream-login/admission.ts';

const lin = { email: 'lin@work.example', claims: { groups: ['staff', 'engineering'], hd: 'work.example' } };

describe('admission by an upstream', () => {
  it('is open to everybody where the operator named no rule', () => {
    expect(checkAdmission({}, { claims: {} })).toBeUndefined();
  });

  it('by domain asks for a verified address in just that domain', () => {
    const rule = { domains: ['Work.Example'] };
    expect(checkAdmission(rule, lin)).toBeUndefined();
    for (const email of [
      undefined,
      '',
      'lin@else.example',
      'lin@sub.work.example',
      'work.example@else.example',
    ])
      expect(checkAdmission(rule, { ...lin, email }), String(email)).toBe('domain_not_allowed');
    expect(checkAdmission({ domains: [''] }, { claims: {} })).toBe('domain_not_allowed');
  });

  it('by claim asks for one of the values of each, whole and in the same case', () => {
    expect(checkAdmission({ claims: { groups: ['guests', 'staff'] } }, lin)).toBeUndefined();
    expect(
      checkAdmission({ claims: { groups: ['engineering'], hd: ['work.example'] } }, lin),
    ).toBeUndefined();
    const unfit: Record<string, string[]>[] = [
      { groups: ['Staff'] },
      { groups: ['staf'] },
      { groups: ['staff'], tenant: ['t1'] },
      { groups: ['*'] },
      { toString: ['*'] },
      { groups: [] },
    ];
    for (const claims of unfit)
      expect(checkAdmission({ claims }, lin), JSON.stringify(claims)).toBe('claims_not_allowed');
  });

  it('takes both rules together', () => {
    const rule = { domains: ['work.example'], claims: { groups: ['guests'] } };
    expect(checkAdmission(rule, lin)).toBe('claims_not_allowed');
  });
});

it('the domain of an address stands behind its last @, in lower case', () => {
  expect(domainOf('A@B@Work.Example')).toBe('work.example');
  expect(domainOf(undefined)).toBe('');
});

it('a number that JSON may have rounded fits no value: another group over 2^53 reads the same (FA-15, T-215)', () => {
  const claims = JSON.parse('{ "groups": [9007199254740993, 1.5, 7] }');
  expect(hasClaim(claims, 'groups', ['9007199254740992', '9007199254740993', '1.5'])).toBe(false);
  expect(hasClaim(claims, 'groups', ['7'])).toBe(true);
});

it('a claim may be a number or a Boolean, and is never an object', () => {
  expect(hasClaim({ tenant: 7, member: true }, 'tenant', ['7'])).toBe(true);
  expect(hasClaim({ tenant: 7, member: true }, 'member', ['true'])).toBe(true);
  expect(hasClaim({ groups: [{ id: 'staff' }, null] }, 'groups', ['[object Object]', 'null'])).toBe(false);
});
