import { describe, expect, it } from 'vitest';
import { findSharedIssuers } from '../../src/upstream/shared-issuers.ts';
import type { Upstream } from '../../src/upstream/upstream.ts';

const upstream = (name: string, issuer: string | undefined, settings: object) =>
  ({ name, issuer, settings }) as Pick<Upstream, 'name' | 'issuer' | 'settings'>;
const plain = (name: string, userInfoEndpoint: string, subject = 'id') =>
  upstream(name, 'https://git.example', { userInfoEndpoint, userInfo: { subject } });
const openId = (name: string, issuer: string) => upstream(name, issuer, { issuer });

describe('upstreams that share an issuer', () => {
  it.each([
    [
      'two clients of one server',
      [plain('a', 'https://git.example/user'), plain('b', 'https://git.example/user')],
    ],
    [
      'two clients of one OpenID provider',
      [openId('a', 'https://idp.example'), openId('b', 'https://idp.example')],
    ],
    ['two servers', [openId('a', 'https://idp.example'), plain('b', 'https://git.example/user')]],
    ['those with an issuer for each tenant', [upstream('a', undefined, {}), upstream('b', undefined, {})]],
  ])('are no problem where the same people have the same subjects: %s', (_what, upstreams) => {
    expect(findSharedIssuers(upstreams)).toEqual([]);
  });

  it.each([
    ['another server of the origin', plain('b', 'https://git.example/two/user')],
    ['another name of the same people', plain('b', 'https://git.example/user', 'login')],
    ['an OpenID provider of the origin', openId('b', 'https://git.example')],
  ])('are refused where somebody could come in as somebody else: %s (T-089)', (_what, other) => {
    const problems = findSharedIssuers([plain('a', 'https://git.example/user'), other]);
    expect(problems).toEqual([
      expect.stringMatching(/^upstreams\.b: .* those of a .* https:\/\/git\.example/),
    ]);
  });
});
