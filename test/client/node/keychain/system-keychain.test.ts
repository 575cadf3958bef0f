import { describe, expect, it } from 'vitest';
import { systemKeychain } from '../../../../src/client/node/keychain/system-keychain.ts';

describe('the keychain of an operating system', () => {
  it.each([
    ['darwin', 'macos-keychain'],
    ['win32', 'windows-dpapi'],
    ['linux', 'secret-service'],
    ['freebsd', 'secret-service'],
  ] as const)('%s is %s', (platform, kind) => {
    expect(systemKeychain(platform, {}).kind).toBe(kind);
  });
});
