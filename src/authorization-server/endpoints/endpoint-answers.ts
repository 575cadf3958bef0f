import type { AuthorizationServerMetadata } from '../../oauth/metadata.ts';
import type { AuditLog } from '../audit.ts';
import { responseModes } from './authorization-endpoint.ts';
import { errorOf, type Step } from './endpoint-guards.ts';
import { reasonOf } from './refusal-reason.ts';

/** For documents that are the same for everybody: short, so that a new key or endpoint is seen soon (T-115, T-178). */
export const publishForAMoment: Step = async (ctx, next) => {
  await next();
  ctx.set('Cache-Control', 'public, max-age=300');
};

/**
 * Creates a step that keeps a document of the engine as it first went out. For those that follow from the settings alone:
 * the engine would put them together anew for each request.
 * @param current gives what the document follows from; for another one than before it is put together anew
 */
export function keepDocument(current: () => unknown): Step {
  let kept: { text: string; from: unknown } | undefined;
  return async (ctx, next) => {
    const from = current();
    if (!kept || kept.from !== from) {
      await next();
      if (ctx.status !== 200 || ctx.method !== 'GET') return;
      kept = { text: JSON.stringify(ctx.body), from };
    }
    ctx.type = 'json';
    ctx.body = kept.text;
  };
}

/**
 * Puts right what the engine says of us in its metadata. Clients authenticate in the same ways at every endpoint, and
 * introspection is for those that prove who they are (RFC 8414 section 2; RFC 7662 section 2.1; A13-03).
 */
export const completeMetadata: Step = async (ctx, next) => {
  await next();
  if (ctx.status !== 200) return;
  const metadata = ctx.body as AuthorizationServerMetadata;
  const methods = metadata.token_endpoint_auth_methods_supported;
  const algorithms = metadata.token_endpoint_auth_signing_alg_values_supported;
  metadata.response_modes_supported = responseModes;
  metadata.revocation_endpoint_auth_methods_supported = methods;
  metadata.revocation_endpoint_auth_signing_alg_values_supported = algorithms;
  if (metadata.introspection_endpoint === undefined) return;
  metadata.introspection_endpoint_auth_methods_supported = methods?.filter((method) => method !== 'none');
  metadata.introspection_endpoint_auth_signing_alg_values_supported = algorithms;
};

/** Error codes that tell a polling device to wait (RFC 8628 section 3.5); they are no failures. */
const waitingErrors = ['authorization_pending', 'slow_down'];

/**
 * Notes in the audit log that a token request was refused, with which error and, as far as it is known, why.
 * A device that waits is not refused.
 */
export function auditTokenRefusal(audit: AuditLog): Step {
  return async (ctx, next) => {
    await next();
    const error = errorOf(ctx);
    if (error === undefined || waitingErrors.includes(error)) return;
    audit('token.refused', ctx, { error, reason: reasonOf(ctx) });
  };
}
