import { SealBroken, type SealedBox } from '../../crypto/sealed-box.ts';
import { randomSecret } from '../../crypto/secret.ts';
import { cookieName } from '../cookie-name.ts';
import type { AccountRequest } from './account-request.ts';

/** Enough to choose a password; whoever takes longer opens the link again, which works until it is used. */
const keptSeconds = 900;

/** What a key may look like; nothing else goes into a cookie. */
const keyShape = /^[\w-]{1,64}$/;

function cookieOf({ url }: AccountRequest) {
  const { pathname, protocol } = new URL(url);
  const secure = protocol === 'https:';
  const name = cookieName(url, 'reset', 'path');
  // Lax: the link is opened out of mail and chat, and the page it leads on to has to get the cookie.
  const path = `${pathname}/reset`;
  return { name, attributes: { httpOnly: true, sameSite: 'lax', secure, path, signed: true } } as const;
}

/** The name of the page in its address is the other half of what opens the cookie. */
const contextOf = (page: string): string => JSON.stringify(['ResetKey', page]);

/**
 * Moves the key of a link out of the URL, which histories and pictures of the screen show, into a cookie of the page. The
 * cookie is sealed for the page whose address has the name returned here: a server at another port of the host may get the
 * cookie, but not the address (T-208).
 * @returns the path of the page, below `/account`
 */
export function keepResetKey(request: AccountRequest, box: SealedBox): string {
  const { name, attributes } = cookieOf(request);
  const { key } = request.ctx.query;
  if (typeof key !== 'string' || !keyShape.test(key)) {
    dropResetKey(request);
    return 'reset';
  }
  const page = randomSecret(16);
  const sealed = box.seal(key, contextOf(page)).toString('base64url');
  request.ctx.cookies.set(name, sealed, { ...attributes, maxAge: keptSeconds * 1000 });
  return `reset?page=${page}`;
}

/** Returns the key of the link that was opened last in this browser, for its own page. */
export function findResetKey(request: AccountRequest, box: SealedBox): string | undefined {
  const sealed = request.ctx.cookies.get(cookieOf(request).name, { signed: true });
  const { page } = request.ctx.query;
  if (!sealed || typeof page !== 'string') return undefined;
  try {
    return box.open(Buffer.from(sealed, 'base64url'), contextOf(page));
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}

/** Forgets it. */
export function dropResetKey(request: AccountRequest): void {
  const { name, attributes } = cookieOf(request);
  request.ctx.cookies.set(name, null, attributes);
}
