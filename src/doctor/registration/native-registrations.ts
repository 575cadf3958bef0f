import type { DiscoveredServer } from '../../client/index.ts';
import { loopbackRedirectUris } from '../../client/registration/dynamic-registration.ts';
import type { Judgement } from '../finding.ts';
import { skip } from '../judgements.ts';
import { foundServer, judgeLost } from '../login/found-server.ts';
import type { Subject } from '../subject.ts';
import { isAccepted, type RegistrationTry, tryRegistration } from './try-registration.ts';

/** Attempts to register a native client, each made only if the one before left a question. */
export interface NativeRegistrations {
  found: DiscoveredServer;
  /** With an exact loopback redirect URI and `application_type`. */
  ported: RegistrationTry;
  /** The same without `application_type`, tried if the first was refused. */
  untyped?: RegistrationTry;
  /** With loopback redirect URIs without a port. */
  portless?: RegistrationTry;
}

/** The attempts, or why there were none. */
export type NativeRegistrationsProbe =
  | ({ kind: 'tried' } & NativeRegistrations)
  | { kind: 'untried'; judgement: Judgement };

/**
 * Probe: registers a native client with a port, and without one.
 * @param subject the server under examination
 */
export async function nativeRegistrations(subject: Subject): Promise<NativeRegistrationsProbe> {
  const way = await subject.fact(foundServer);
  if (way.kind === 'lost') return { kind: 'untried', judgement: judgeLost(way) };
  const { found } = way;
  const { issuer, registration_endpoint: endpoint } = found.authorizationServer;
  if (endpoint === undefined)
    return {
      kind: 'untried',
      judgement: skip(`${issuer} has no registration endpoint.`),
    };
  const ported = await tryRegistration(subject, found, {});
  const without = { application_type: undefined };
  const untyped = isAccepted(ported) ? undefined : await tryRegistration(subject, found, without);
  if (untyped !== undefined && !isAccepted(untyped)) return { kind: 'tried', found, ported, untyped };
  const portless = await tryRegistration(subject, found, {
    ...(untyped === undefined ? {} : without),
    redirect_uris: [...loopbackRedirectUris],
  });
  return { kind: 'tried', found, ported, ...(untyped === undefined ? {} : { untyped }), portless };
}
