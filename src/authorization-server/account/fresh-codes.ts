import { SealBroken, type SealedBox } from '../../crypto/sealed-box.ts';
import { cookieName } from '../cookie-name.ts';
import type { PersonalRequest } from './account-request.ts';

/** What it works with. */
export interface FreshCodesOptions {
  box: SealedBox;
  /** Epoch seconds. */
  now: () => number;
}

/** Page that shows them, below the account pages. */
export const freshCodesPage = 'codes/new';

/** Long enough to write them down, and to load the page once more. */
const shownSeconds = 300;

function cookieOf({ url }: PersonalRequest) {
  const { pathname, protocol } = new URL(url);
  const secure = protocol === 'https:';
  const name = cookieName(url, 'recovery-codes', 'path');
  const path = `${pathname}/${freshCodesPage}`;
  return { name, attributes: { httpOnly: true, sameSite: 'strict', secure, path, signed: false } } as const;
}

/** This person's login: nobody else can open them, in whatever browser. */
function contextOf({ who }: PersonalRequest): string {
  return JSON.stringify(['FreshRecoveryCodes', who.account.id, who.session.uid]);
}

/**
 * Keeps recovery codes that were just made for the page that shows them. The database has hashes alone, so the browser
 * keeps the codes themselves, sealed and for a few minutes: a page that is loaded once more then makes no new ones.
 */
export function keepFreshCodes(
  request: PersonalRequest,
  { box, now }: FreshCodesOptions,
  codes: readonly string[],
): void {
  const { name, attributes } = cookieOf(request);
  const sealed = box.seal(JSON.stringify({ codes, until: now() + shownSeconds }), contextOf(request));
  request.ctx.cookies.set(name, sealed.toString('base64url'), { ...attributes, maxAge: shownSeconds * 1000 });
}

/** Gives the recovery codes that this login made within the last minutes. */
export function findFreshCodes(
  request: PersonalRequest,
  { box, now }: FreshCodesOptions,
): string[] | undefined {
  const sealed = request.ctx.cookies.get(cookieOf(request).name, { signed: false });
  if (!sealed) return undefined;
  try {
    const { codes, until } = JSON.parse(box.open(Buffer.from(sealed, 'base64url'), contextOf(request)));
    return until > now() ? codes : undefined;
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}
