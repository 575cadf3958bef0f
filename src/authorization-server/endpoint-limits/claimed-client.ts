import { decodeJwt } from 'jose';
import type { Context } from 'koa';
import { findForm } from '../endpoints/form-body.ts';
import { BodyRefused } from '../endpoints/request-body.ts';

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
 * A form that is refused is answered by the step that reads it.
 * @returns the client id, empty where the request names none
 */
export async function readClaimedClient(ctx: Context): Promise<string> {
  if (ctx.method !== 'POST') return new URLSearchParams(ctx.querystring).get('client_id') ?? '';
  const found = await findForm(ctx);
  const form = found instanceof BodyRefused ? undefined : found;
  const assertion = form?.get('client_assertion') ?? null;
  return (
    basicUser(ctx.get('Authorization')) ??
    form?.get('client_id') ??
    (assertion === null ? undefined : assertedClient(assertion)) ??
    ''
  );
}
