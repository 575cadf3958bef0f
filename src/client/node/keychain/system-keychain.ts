import type { Keychain } from './keychain.ts';
import { createMacosKeychain } from './macos-keychain.ts';
import { createSecretService } from './secret-service.ts';
import { createWindowsDpapi } from './windows-dpapi.ts';

/**
 * The keychain of an operating system. Whether it can be reached is known when it is used.
 * @param platform `process.platform`
 * @param env environment variables
 */
export function systemKeychain(
  platform: NodeJS.Platform = process.platform,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Keychain {
  if (platform === 'darwin') return createMacosKeychain(env);
  if (platform === 'win32') return createWindowsDpapi(env);
  return createSecretService(env);
}
