import { expect, it } from 'vitest';
import {
  acrOfUpstreamSession,
  upstreamSessionOfAcr,
} from '../../../src/authorization-server/upstream-login/login-acr.ts';

it('a login remembers the login at the upstream it came through', () => {
  expect(acrOfUpstreamSession('s1')).toBe('urn:gatehouse:upstream:s1');
  expect(upstreamSessionOfAcr(acrOfUpstreamSession('s1'))).toBe('s1');
});

it('a login that came another way remembers none', () => {
  for (const acr of [undefined, '', 'urn:mace:incommon:iap:silver', 'xurn:gatehouse:upstream:s1'])
    expect(upstreamSessionOfAcr(acr)).toBeUndefined();
});
