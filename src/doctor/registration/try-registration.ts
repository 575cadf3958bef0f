import { loopbackRedirectUris } from '../../client/building-blocks.ts';
import type { DiscoveredServer, Registration } from '../../client/index.ts';
import { quote } from '../../client/quote.ts';
import { asText, parseObject, readForeignAnswer } from '../../oauth/foreign-json.ts';
import type { ReadingToleranceName } from '../../oauth/reading-tolerances.ts';
import { type Answer, ask } from '../ask.ts';
import { type Judgement, skip } from '../check.ts';
import { foundServer, judgeLost } from '../login/authorization-outcome.ts';
import type { Subject } from '../subject.ts';

/** One attempt to register a client. */
export interface RegistrationTry {
  /** The sent client metadata (RFC 7591 section 2). */
  sent: { redirect_uris: string[]; token_endpoint_auth_method: string } & Record<string, unknown>;
  answer: Answer;
  /** JSON object of the response, if it is one. It may contain a secret. */
  body?: Readonly<Record<string, unknown>>;
  /** The client, if the server registered one. */
  client?: Registration;
  /** Deviations from the standard that were tolerated, each the end of a sentence. */
  slips?: readonly string[];
  /** True if the server offers to delete the client, which is done at the end. */
  isDeletable?: boolean;
}

/** The loopback redirect URI of requests without a listener; the port is arbitrary. */
export const portedRedirectUri = 'http://127.0.0.1:53682/callback';

/** Returns the authentication method of clients without a secret, or the first one of the server. */
function authenticationMethod(supported: readonly string[] | undefined): string {
  if (supported === undefined || supported.includes('none')) return 'none';
  return supported.find((method) => method.startsWith('client_secret_')) ?? 'none';
}

/** Deviations with their own sentences in the checks of the registration. */
const judgedElsewhere = new Set<ReadingToleranceName>(['answerStatus', 'mediaType', 'secretWithoutEnd']);

/** Returns the JSON object of a response as it came, and notes tolerated deviations. */
function readBody(answer: Answer, slips: string[]): Readonly<Record<string, unknown>> | undefined {
  if (answer.kind === 'unanswered') return undefined;
  const { status, headers, text } = answer;
  const contentType = headers.get('content-type');
  readForeignAnswer({ status, contentType, text }, 'registration', ({ tolerance, because }) => {
    if (!judgedElsewhere.has(tolerance)) slips.push(because);
  });
  return parseObject(text);
}

/** Deletes the client at the end, if the server says how (RFC 7592 section 2.3). */
function deleteAtEnd(subject: Subject, body: Readonly<Record<string, unknown>>, endpoint: string): boolean {
  const place = URL.parse(asText(body.registration_client_uri) ?? '');
  const token = asText(body.registration_access_token);
  if (place === null || token === undefined || place.origin !== new URL(endpoint).origin) return false;
  const headers = { authorization: `Bearer ${token}` };
  subject.atEnd(() => ask(subject, place.href, { method: 'DELETE', headers }));
  return true;
}

/**
 * Registers a client, which is deleted at the end.
 * @param found result of discovery, with a registration endpoint
 * @param metadata changes to the metadata of a native client; undefined removes a member
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

/** Returns true if the server accepted the registration, in any form. */
export function isAccepted({ answer }: Pick<RegistrationTry, 'answer'>): boolean {
  return answer.kind === 'answered' && answer.status >= 200 && answer.status < 300;
}

/** Describes the response to a rejected registration; a response that is no JSON is quoted. */
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
  /** The same without `application_type`, tried if the first was rejected. */
  untyped?: RegistrationTry;
  /** With loopback redirect URIs without a port. */
  portless?: RegistrationTry;
}

/** The attempts, or the reason why there were none. */
type NativeRegistrationsProbe =
  | ({ kind: 'tried' } & NativeRegistrations)
  | { kind: 'untried'; judgement: Judgement };

/** Fact: the registrations of a native client, with a port and without one. */
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
