import type { Context } from 'koa';
import { equalSecrets, keyedDigest, randomSecret } from '../../crypto/secret.ts';
import { normalizeEmail } from '../../storage/accounts.ts';
import { cookieName } from '../cookie-name.ts';

/** Seconds that a browser is remembered after a login. */
const keptSeconds = 365 * 86_400;

/**
 * Browsers in which an account has logged in before. Each has attempts of its own, so that whoever uses up those of an
 * account elsewhere does not keep its owner out (OWASP "device cookies"; T-117). The cookie alone opens nothing.
 */
export interface KnownDevices {
  /** Returns the device that asks, if this account logged in on it; undefined otherwise. */
  find(ctx: Context, email: string): string | undefined;
  /** Remembers the browser for an account that has just logged in. */
  remember(ctx: Context, email: string): void;
}

/**
 * Creates the memory of browsers: it is in their cookies, and cannot be forged without the key.
 * @param keys cookie keys of the installation; the first makes cookies, all are taken
 * @param issuer names the cookie; its scheme decides whether that goes over https alone
 */
export function createKnownDevices(keys: readonly string[], issuer: string): KnownDevices {
  const secure = issuer.startsWith('https:');
  const cookie = cookieName(issuer, 'device', 'host');
  const proofsOf = (device: string, email: string): string[] =>
    keys.map((key) => keyedDigest(key, 'device', normalizeEmail(email), device));
  return {
    find(ctx, email) {
      const [device = '', proof = ''] = (ctx.cookies.get(cookie, { signed: false }) ?? '').split('.');
      return proofsOf(device, email).some((expected) => equalSecrets(proof, expected)) ? device : undefined;
    },
    remember(ctx, email) {
      const device = randomSecret(16);
      ctx.cookies.set(cookie, `${device}.${proofsOf(device, email)[0]}`, {
        httpOnly: true,
        sameSite: 'lax',
        secure,
        path: '/',
        signed: false,
        maxAge: keptSeconds * 1000,
      });
    },
  };
}
