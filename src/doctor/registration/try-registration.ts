import type { DiscoveredServer, Registration } from '../../client/index.ts';
import { quote } from '../../client/quote.ts';
import { loopbackRedirectUris } from '../../client/registration/dynamic-registration.ts';
import { asText, parseObject, readForeignAnswer } from '../../oauth/foreign-json.ts';
import type { ReadingToleranceName } from '../../oauth/reading-tolerances.ts';
import { type Answer, ask } from '../ask.ts';
import { type Judgement, skip } from '../check.ts';
import { foundServer, judgeLost } from '../login/authorization-outcome.ts';
import type { Subject } from '../subject.ts';

/** One attempt to register a client. */
export interface RegistrationTry {
  /** The client metadata sent (RFC 7591 section 2). */
  sent: { redirect_uris: string[]; token_endpoint_auth_method: string } & Record<string, unknown>;
  answer: Answer;
  /** The answer's JSON object, if it is one. It may hold a secret. */
  body?: Readonly<Record<string, unknown>>;
  /** The client, if the server registered one. */
  client?: Registration;
  /** Deviations from the standard that were tolerated, each the end of a sentence. */
  slips?: readonly string[];
  /** True if the server offers to delete the client; it is deleted in the end. */
  isDeletable?: boolean;
}

/** The loopback redirect URI of requests whose answer nobody waits for; the port is as good as any. */
export const portedRedirectUri = 'http://127.0.0.1:53682/callback';

/** The way clients without a secret ask, or the first way the server has. */
function authenticationMethod(supported: readonly string[] | undefined): string {
  if (supported === undefined || supported.includes('none')) return 'none';
  return supported.find((method) => method.startsWith('client_secret_')) ?? 'none';
}

/** Slips that checks of the registration have sentences of their own for. */
const judgedElsewhere = new Set<ReadingToleranceName>(['answerStatus', 'mediaType', 'secretWithoutEnd']);

/** The JSON object of an answer as it came; what is read all the same in it is noted. */
function readBody(answer: Answer, slips: string[]): Readonly<Record<string, unknown>> | undefined {
  if (answer.kind === 'unanswered') return undefined;
  const { status, headers, text } = answer;
  const contentType = headers.get('content-type');
  readForeignAnswer({ status, contentType, text }, 'registration', ({ tolerance, because }) => {
    if (!judgedElsewhere.has(tolerance)) slips.push(because);
  });
  return parseObject(text);
}

/** Has the client deleted at the end, if the server says how (RFC 7592 section 2.3). */
function deleteAtEnd(subject: Subject, body: Readonly<Record<string, unknown>>, endpoint: string): boolean {
  const place = URL.parse(asText(body.registration_client_uri) ?? '');
  const token = asText(body.registration_access_token);
  if (place === null || token === undefined || place.origin !== new URL(endpoint).origin) return false;
  const headers = { authorization: `Bearer ${token}` };
  subject.atEnd(() => ask(subject, place.href, { method: 'DELETE', headers }));
  return true;
}

/**
 * Registers a client, and has it deleted at the end.
 * @param subject the server under examination
 * @param found what discovery found; it has a registration endpoint
 * @param metadata over what a native client sends; an undefined member is left out
 * @see RFC 7591 section 3.1
 */
export async function tryRegistration(
  subject: Subject,
  { authorizationServer: as }: DiscoveredServer,
  metadata: Record<string, unknown>,
): Promise<RegistrationTry> {
  const sent: RegistrationTry['sent'] = {
    client_name: 'Gatehouse doctor',
    application_type: 'native',
    redirect_uris: [portedRedirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: authenticationMethod(as.token_endpoint_auth_methods_supported),
    ...metadata,
  };
  const endpoint = as.registration_endpoint ?? '';
  const answer = await ask(subject, endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(sent),
  });
  const slips: string[] = [];
  const body = readBody(answer, slips);
  const clientId = asText(body?.client_id);
  if (body === undefined) return { sent, answer, slips };
  if (clientId === undefined || !isAccepted({ answer })) return { sent, answer, body, slips };
  const secret = asText(body.client_secret);
  const method = asText(body.token_endpoint_auth_method);
  const client: Registration = {
    issuer: as.issuer,
    clientId,
    redirectUris: sent.redirect_uris,
    source: 'dynamic',
    ...(secret === undefined ? {} : { clientSecret: secret }),
    ...(method === undefined ? {} : { tokenEndpointAuthMethod: method }),
  };
  return { sent, answer, body, client, slips, isDeletable: deleteAtEnd(subject, body, endpoint) };
}

/**
 * Returns true if the server said yes, in whatever form.
 * @param attempt a registration
 */
export function isAccepted({ answer }: Pick<RegistrationTry, 'answer'>): boolean {
  return answer.kind === 'answered' && answer.status >= 200 && answer.status < 300;
}

/**
 * Describes how a registration ended without a client; a response that is no JSON is quoted.
 * @param attempt the registration
 */
export function describeRefusal({ answer, body }: Pick<RegistrationTry, 'answer' | 'body'>): string {
  if (answer.kind === 'unanswered') return `no answer (${answer.why})`;
  const { status, headers } = answer;
  if (body === undefined)
    return `status ${status} and a body that is no JSON object (${quote(headers.get('content-type') ?? 'no Content-Type')}): ${quote(answer.text)}`;
  const { error, error_description: why } = body;
  if (error === undefined) return `status ${status} without an error code`;
  return `status ${status}, ${quote(error)}${why === undefined ? '' : ` (${quote(why)})`}`;
}

/** Attempts to register a native client, each made only if the one before left a question. */
interface NativeRegistrations {
  found: DiscoveredServer;
  /** With an exact loopback redirect URI and `application_type`. */
  ported: RegistrationTry;
  /** The same without `application_type`, tried if the first was refused. */
  untyped?: RegistrationTry;
  /** With loopback redirect URIs without a port. */
  portless?: RegistrationTry;
}

/** The attempts, or why there were none. */
type NativeRegistrationsProbe =
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
