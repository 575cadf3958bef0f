import { describe, expect, it } from 'vitest';
import { isLoopbackAddress, isPrivateAddress, isPublicAddress, networkOf } from '../../src/net/address.ts';

describe('an address', () => {
  it.each([
    ['this host', ['0.0.0.0', '0.1.2.3', '::']],
    ['loopback', ['127.0.0.1', '127.255.0.9', '::1']],
    ['private', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1']],
    ['link-local', ['169.254.1.1', 'fe80::1', 'fe80::1%eth0']],
    ['unique local', ['fc00::1', 'fd12:3456::1']],
    ['shared by a carrier (CGNAT)', ['100.64.0.1', '100.127.255.254']],
    [
      'the metadata service of a cloud',
      ['169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254'],
    ],
    ['multicast or broadcast', ['224.0.0.1', '255.255.255.255', 'ff02::1']],
    ['for documentation or tests', ['192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '2001:db8::1']],
    ['reserved', ['240.0.0.1', '192.88.99.1', '3fff::1', '5f00::1', '4000::1', 'fec0::1', '100::1']],
    ['IPv4 inside IPv6', ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:a00:1', '::7f00:1']],
    ['a tunnel', ['2002:7f00:1::', '2001::1', '64:ff9b::7f00:1', '64:ff9b:1::1']],
    ['no address', ['', 'localhost', 'example.com', '1.2.3.4.5', '[::1]']],
  ])('that is %s is not public (A12-01, T-067)', (_what, addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([]);
  });

  it('of a private network is one that an organization uses: no metadata service, not this machine (T-088)', () => {
    const own = ['10.0.0.1', '172.16.0.1', '192.168.1.1', 'fd12:3456::1', '100.64.0.1', '::ffff:10.0.0.1'];
    const others = [
      '127.0.0.1',
      '::1',
      '169.254.169.254',
      '100.100.100.200',
      'fd00:ec2::254',
      '8.8.8.8',
      'x',
    ];
    expect(own.filter(isPrivateAddress)).toEqual(own);
    expect(others.filter(isPrivateAddress)).toEqual([]);
  });

  it('in another spelling is the same address (A12-01, T-067)', () => {
    for (const spelling of [
      '127.1',
      '0x7f.0.0.1',
      '2130706433',
      '0177.0.0.1',
      '0:0:0:0:0:0:0:1',
      '::FFFF:127.0.0.1',
    ])
      expect(isPublicAddress(spelling), spelling).toBe(false);
  });

  it('of the internet is public (A12-01)', () => {
    const addresses = [
      '8.8.8.8',
      '93.184.215.14',
      '172.32.0.1',
      '100.128.0.1',
      '::ffff:8.8.8.8',
      '2606:4700::1111',
    ];
    expect(addresses.filter((address) => !isPublicAddress(address))).toEqual([]);
  });

  it('is loopback where it is this machine', () => {
    expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].every(isLoopbackAddress)).toBe(true);
    expect(['8.8.8.8', '10.0.0.1', '0.0.0.0', '::', 'localhost'].some(isLoopbackAddress)).toBe(false);
  });

  it('is counted by itself, or by the /64 it is in', () => {
    expect(networkOf('203.0.113.9')).toBe('203.0.113.9');
    expect(networkOf('::ffff:203.0.113.9')).toBe('203.0.113.9');
    expect(networkOf('2001:db8:1:2:3::4')).toBe(networkOf('2001:db8:1:2:ffff::1'));
    expect(networkOf('2001:db8:1:2::1')).not.toBe(networkOf('2001:db8:1:3::1'));
  });
});
