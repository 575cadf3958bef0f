import { decodeJwt } from 'jose';
import type { Context } from 'koa';
import { readFormBody } from '../endpoints/form-body.ts';

/** The user of HTTP Basic authentication (RFC 6749 section 2.3.1). */
function basicUser(header: string): string | undefined {
  const [, encoded] = /^Basic +([\w+/=-]+)$/i.exec(header) ?? [];
  if (encoded === undefined) return undefined;
  const [user = ''] = Buffer.from(encoded, 'base64').toString('utf8').split(':', 1);
  return new URLSearchParams(`user=${user}`).get('user') ?? undefined;
}

/** The subject of a client assertion (RFC 7523 section 3). */
function assertedClient(jwt: string): string | undefined {
  try {
    return decodeJwt(jwt).sub;
  } catch {
    return undefined;
  }
}

/**
 * Gives the client a request says it comes from. Nothing of it is proven: it is for counting alone.
 * @returns the client id, empty where the request names none; undefined where the request was answered, because its form
 *   cannot be read
 */
export async function readClaimedClient(ctx: Context): Promise<string | undefined> {
  if (ctx.method !== 'POST') return new URLSearchParams(ctx.querystring).get('client_id') ?? '';
  const form = await readFormBody(ctx);
  if (!form) return undefined;
  const assertion = form.get('client_assertion');
  return (
    basicUser(ctx.get('Authorization')) ??
    form.get('client_id') ??
    (assertion === null ? undefined : assertedClient(assertion)) ??
    ''
  );
}
