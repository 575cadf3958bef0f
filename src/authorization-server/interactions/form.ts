import type { Context } from 'koa';
import { equalSecrets, keyedDigest } from '../../crypto/secret.ts';
import { BodyRefused, readBody } from '../endpoints/request-body.ts';

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
 * The tokens that tie a form to the interaction and the page it was made for (T-014), one for each key: the first goes
 * into the form, and each is taken, so that a form outlives the rotation of keys.
 * @param keys cookie keys of the installation
 */
export function csrfTokens(keys: readonly string[], page: string, uid: string): string[] {
  return keys.map((key) => keyedDigest(key, 'csrf', page, uid));
}

/** The token for a new form; see {@link csrfTokens}. */
export function csrfToken(keys: readonly string[], page: string, uid: string): string {
  return csrfTokens(keys.slice(0, 1), page, uid)[0] ?? '';
}

/**
 * Whether a post comes from a page of ours, as far as the browser says: `Sec-Fetch-Site` where it is sent, else
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
export async function readOwnBody(ctx: Context, origin: string): Promise<Buffer> {
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
 * @param expectedTokens see {@link csrfTokens}
 * @throws FormRefused
 */
export async function readForm(
  ctx: Context,
  origin: string,
  expectedTokens: readonly string[],
): Promise<URLSearchParams> {
  const form = new URLSearchParams((await readOwnBody(ctx, origin)).toString('utf8'));
  if (!expectedTokens.some((token) => equalSecrets(form.get('csrf') ?? '', token)))
    throw new FormRefused(403, 'This form does not belong to the page you have open.');
  return form;
}
