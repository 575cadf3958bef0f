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
 * The token that ties a form to the interaction and the page it was made for (T-014).
 * @param key cookie key of the installation
 */
export function csrfToken(key: string, page: string, uid: string): string {
  return keyedDigest(key, 'csrf', page, uid);
}

/**
 * Whether a post comes from a page of ours, as far as the browser says: `Sec-Fetch-Site` where it is sent, else
 * `Origin`. Our pages send no referrer, which makes their `Origin` "null"; the CSRF token and the cookie of the
 * interaction decide then.
 */
function checkSameOrigin(ctx: Context, origin: string): void {
  const site = ctx.get('Sec-Fetch-Site');
  const sent = ctx.get('Origin');
  const ours = site === '' ? sent === '' || sent === 'null' || sent === origin : site === 'same-origin';
  if (!ours) throw new FormRefused(403, 'This form was not sent from this site, so it was not carried out.');
}

/**
 * Reads a posted form of ours. The checks in order: media type, origin, size, CSRF token.
 * @param origin our public origin
 * @param expectedToken see {@link csrfToken}
 * @throws FormRefused
 */
export async function readForm(
  ctx: Context,
  origin: string,
  expectedToken: string,
): Promise<URLSearchParams> {
  if (!ctx.is('application/x-www-form-urlencoded'))
    throw new FormRefused(415, 'This form was sent in a wrong format.');
  checkSameOrigin(ctx, origin);
  let form: URLSearchParams;
  try {
    form = new URLSearchParams((await readBody(ctx, maxFormBytes)).toString('utf8'));
  } catch (error) {
    if (error instanceof BodyRefused) throw new FormRefused(error.status, error.message);
    throw error;
  }
  if (!equalSecrets(form.get('csrf') ?? '', expectedToken))
    throw new FormRefused(
      403,
      'This form does not belong to the page you have open. Please begin again from the app.',
    );
  return form;
}
