import type { Context } from 'koa';
import { equalSecrets, keyedDigest, randomSecret } from '../../crypto/secret.ts';
import type { Step } from '../endpoints/endpoint-guards.ts';
import { answerWithErrorPage } from '../endpoints/error-page.ts';
import { BodyRefused, readBody, replayBody } from '../endpoints/form-body.ts';

/** A form of ours has a few short fields. */
const maxFormBytes = 16 * 1024;

/** A form post that is not carried out. The message is the detail, in English. */
export class FormRefused extends Error {
  override name = 'FormRefused';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Returns the token that ties a form to the interaction and the page it was made for (T-014). Each has a random part: only
 * this copy of the page has it, and another browser that opens the same page gets another one.
 * @param keys cookie keys of the installation; the first one is used
 */
export function csrfToken(keys: readonly string[], page: string, uid: string): string {
  const nonce = randomSecret(16);
  return `${nonce}.${keyedDigest(keys[0] ?? '', 'csrf', page, uid, nonce)}`;
}

/** Checks the token of a posted form. */
export type CsrfCheck = (token: string) => boolean;

/**
 * Creates the check of the tokens for a page. Tokens of every key pass, so that a form outlives the rotation of keys.
 * @param keys cookie keys of the installation
 */
export function createCsrfCheck(keys: readonly string[], page: string, uid: string): CsrfCheck {
  return (token) => {
    const [nonce = '', digest = ''] = token.split('.');
    return (
      nonce !== '' && keys.some((key) => equalSecrets(digest, keyedDigest(key, 'csrf', page, uid, nonce)))
    );
  };
}

/**
 * Returns true if a post comes from a page of ours, as far as the browser says: `Sec-Fetch-Site` if it is sent, else
 * `Origin`. Our pages send no referrer, which makes their `Origin` "null"; the CSRF token and the cookie of the
 * interaction decide then.
 * @param origin our public origin
 * @throws FormRefused
 */
function checkSameOrigin(ctx: Context, origin: string): void {
  const site = ctx.get('Sec-Fetch-Site');
  const sent = ctx.get('Origin');
  const ours = site === '' ? sent === '' || sent === 'null' || sent === origin : site === 'same-origin';
  if (!ours) throw new FormRefused(403, 'This form was not sent from this site, so it was not carried out.');
}

/**
 * Reads the body of a form that a page of ours posted. The checks in order: media type, origin, coding, size.
 * @param origin our public origin
 * @throws FormRefused
 */
async function readOwnBody(ctx: Context, origin: string): Promise<Buffer> {
  if (!ctx.is('application/x-www-form-urlencoded'))
    throw new FormRefused(415, 'This form was sent in a wrong format.');
  checkSameOrigin(ctx, origin);
  try {
    return await readBody(ctx, maxFormBytes);
  } catch (error) {
    if (error instanceof BodyRefused) throw new FormRefused(error.status, error.message);
    throw error;
  }
}

/**
 * Reads a posted form of ours, and checks its CSRF token behind all that {@link readOwnBody} checks.
 * @param origin our public origin
 * @param isExpected see {@link createCsrfCheck}
 * @throws FormRefused
 */
export async function readForm(
  ctx: Context,
  origin: string,
  isExpected: CsrfCheck,
): Promise<URLSearchParams> {
  const form = new URLSearchParams((await readOwnBody(ctx, origin)).toString('utf8'));
  if (!isExpected(form.get('csrf') ?? ''))
    throw new FormRefused(403, 'This form does not belong to the page you have open.');
  return form;
}

/**
 * Lets a form in that comes from a page of ours, as far as the browser says, and can be read (T-014, T-134); the engine reads
 * it again, and looks for the token in it.
 * @param origin our public origin
 */
export function takeOwnForm(origin: string): Step {
  return async (ctx, next) => {
    try {
      replayBody(ctx, await readOwnBody(ctx, origin));
    } catch (error) {
      if (!(error instanceof FormRefused)) throw error;
      return answerRefusedForm(ctx, error);
    }
    await next();
  };
}

/**
 * Responds to a rejected form with a page that says why.
 * @param account URL of the account page, if the form was one of the account pages
 */
export function answerRefusedForm(
  ctx: Context,
  { status, message: description }: FormRefused,
  account?: string,
): void {
  answerWithErrorPage(
    ctx,
    status,
    { code: 'invalid_request', description },
    { explanation: 'form_refused', ...(account !== undefined && { account }) },
  );
}

/**
 * Answers a request whose method a page does not take with 405, what it takes, and a page that says so (T-016).
 * @param account URL of the account page, if it is one of those
 * @returns whether it was answered
 */
export function refuseOtherMethods(ctx: Context, allowed: readonly string[], account?: string): boolean {
  if (allowed.includes(ctx.method)) return false;
  ctx.set('Allow', allowed.join(', '));
  answerRefusedForm(ctx, new FormRefused(405, `use ${allowed.join(' or ')} here`), account);
  return true;
}
