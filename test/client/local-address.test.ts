import { describe, expect, it } from 'vitest';
import { isLocalAddress } from '../../src/client/local-address.ts';

const hostname = (host: string): string => new URL(`https://${host}`).hostname;

describe('a local address', () => {
  it.each([
    'localhost',
    'localhost.',
    'a.localhost',
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.9.9',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[fd00::1]',
    '[fe80::1]',
  ])('is %s (T-185)', (host) => {
    expect(isLocalAddress(hostname(host))).toBe(true);
  });

  it.each([
    'example.com',
    '172.32.0.1',
    '100.128.0.1',
    '8.8.8.8',
    '[2001:db8::1]',
    'fd.example',
    '10.example.com',
  ])('is not %s', (host) => {
    expect(isLocalAddress(hostname(host))).toBe(false);
  });
});
