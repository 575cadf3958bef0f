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

/** Moves the key of a link out of the URL, which histories and pictures of the screen show, into a cookie of the page. */
export function keepResetKey(request: AccountRequest): void {
  const { name, attributes } = cookieOf(request);
  const { key } = request.ctx.query;
  const isKey = typeof key === 'string' && keyShape.test(key);
  if (isKey) request.ctx.cookies.set(name, key, { ...attributes, maxAge: keptSeconds * 1000 });
  else dropResetKey(request);
}

/** Gives the key of the link that was opened last in this browser. */
export function findResetKey(request: AccountRequest): string | undefined {
  return request.ctx.cookies.get(cookieOf(request).name, { signed: true }) || undefined;
}

/** Forgets it. */
export function dropResetKey(request: AccountRequest): void {
  const { name, attributes } = cookieOf(request);
  request.ctx.cookies.set(name, null, attributes);
}
