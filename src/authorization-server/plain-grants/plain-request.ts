import type { Context } from 'koa';
import { isUsualForm } from '../endpoints/form-body.ts';

/** By each of these a request is more than a plain one: it authenticates, proves a key, or comes from a page. */
const furtherHeaders = [
  'authorization',
  'dpop',
  'origin',
  'oauth-client-attestation',
  'oauth-client-attestation-pop',
] as const;

/** A token request as every public client sends it. */
export interface PlainRequest {
  clientId: string;
  /** The resource indicator (RFC 8707 section 2.2); undefined if there is none. */
  resource: string | undefined;
  /** Returns one of the parameters that were required. */
  parameter: (name: string) => string;
}

/**
 * Reads a token request that has the parameters of its grant, each once and not empty, at most a `resource` beside them
 * (RFC 6749 sections 3.2 and 3.2.1), and nothing by which it would be more than that.
 * @param form the body, its resource indicators canonical
 * @param required the parameters of the grant, beside `grant_type` and `client_id`
 * @returns undefined for any other request
 */
export function readPlainRequest(
  ctx: Context,
  form: URLSearchParams,
  required: readonly string[],
): PlainRequest | undefined {
  if (furtherHeaders.some((name) => ctx.req.headers[name] !== undefined)) return undefined;
  if (!isUsualForm(ctx)) return undefined;
  const names = ['grant_type', 'client_id', ...required];
  const resource = form.get('resource') ?? undefined;
  if (form.size !== names.length + (resource === undefined ? 0 : 1)) return undefined;
  // As many as there may be, and each of them there: so none came twice.
  if (!names.every((name) => form.get(name)) || resource === '') return undefined;
  const parameter = (name: string): string => form.get(name) ?? '';
  return { clientId: parameter('client_id'), resource, parameter };
}
