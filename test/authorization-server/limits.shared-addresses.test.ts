import { describe, expect, it } from 'vitest';
import { createSharedAddresses } from '../../src/authorization-server/limits.ts';

const isShared = createSharedAddresses([
  '160.79.104.0/21',
  '203.0.113.9',
  '2001:db8::/32',
  '2620:0:1::5/128',
]);

describe('an address that many people share', () => {
  it.each(['160.79.104.0', '160.79.111.255', '203.0.113.9', '2001:db8:1:2::/64', '2001:db8:0:0::/64'])(
    'is in a range of the settings: %s',
    (address) => expect(isShared(address)).toBe(true),
  );

  it.each(['160.79.103.255', '160.79.112.0', '203.0.113.10', '2001:db9:0:0::/64', 'unknown', ''])(
    'is no other: %s',
    (address) => expect(isShared(address)).toBe(false),
  );

  it('is a /64 where the range is narrower: nothing narrower is counted', () => {
    expect(isShared('2620:0:1:0::/64')).toBe(true);
    expect(isShared('2620:0:1:1::/64')).toBe(false);
  });

  it('is none where there are no ranges', () => {
    expect(createSharedAddresses([])('160.79.104.1')).toBe(false);
  });
});
