import type { AuthorizationServerMetadata } from '../../oauth/metadata.ts';
import { deviceGrantType } from '../client-metadata.ts';
import { responseModes } from './authorization-endpoint.ts';
import type { Step } from './endpoint-guards.ts';

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

/** Removes registration from the metadata document if nobody can register (RFC 8414 section 2; A5-03). */
export const concealRegistration: Step = async (ctx, next) => {
  await next();
  if (ctx.status === 200) delete (ctx.body as { registration_endpoint?: string }).registration_endpoint;
};

/**
 * Leaves the device flow out of our metadata, if it is switched off. The engine keeps the grant type: clients that have
 * registered it go on to work otherwise.
 */
export const withdrawDeviceFlow: Step = async (ctx, next) => {
  await next();
  const metadata = ctx.body as { device_authorization_endpoint?: string; grant_types_supported?: string[] };
  if (ctx.status !== 200) return;
  delete metadata.device_authorization_endpoint;
  metadata.grant_types_supported = metadata.grant_types_supported?.filter((type) => type !== deviceGrantType);
};
