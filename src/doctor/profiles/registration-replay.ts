import type { DiscoveredServer, Registration } from '../../client/index.ts';
import { quote } from '../../client/quote.ts';
import type { ClientProfile } from '../../oauth/client-profiles/client-profile.ts';
import { stringsOf } from '../document.ts';
import { describeOutcome, sendAuthorization } from '../login/authorization-outcome.ts';
import { documentsNotFetchedFix } from '../registration/metadata-document-checks.ts';
import { describeRefusal, tryRegistration } from '../registration/try-registration.ts';
import type { Subject } from '../subject.ts';
import type { TakenIssuer } from './issuer-replay.ts';
import type { ReplayStep, TakenResource } from './resource-replay.ts';

const clause = 'MCP authorization, Client Registration Approaches';

/** The client's way to a client id at this server; undefined if it has none. */
function chooseWay(
  profile: ClientProfile,
  { members }: TakenIssuer,
): 'metadata_document' | 'dynamic' | undefined {
  const methods = stringsOf(members.token_endpoint_auth_methods_supported);
  return profile.registration.find((way) =>
    way === 'dynamic'
      ? typeof members.registration_endpoint === 'string'
      : members.client_id_metadata_document_supported === true &&
        (profile.metadataDocument?.needsNone !== true || methods?.includes('none') === true),
  );
}

/** Data for requests to the authorization server. */
function discovered(
  subject: Subject,
  { issuer, members }: TakenIssuer,
  resource: TakenResource | undefined,
): DiscoveredServer {
  const text = (member: string): string => String(members[member] ?? '');
  const methods = stringsOf(members.token_endpoint_auth_methods_supported);
  return {
    server: subject.url,
    resource: typeof resource?.members.resource === 'string' ? resource.members.resource : subject.url,
    model: 'protected_resource',
    trace: [],
    authorizationServer: {
      issuer,
      authorization_endpoint: text('authorization_endpoint'),
      token_endpoint: text('token_endpoint'),
      code_challenge_methods_supported: ['S256'],
      ...(typeof members.registration_endpoint === 'string'
        ? { registration_endpoint: members.registration_endpoint }
        : {}),
      ...(methods === undefined ? {} : { token_endpoint_auth_methods_supported: methods }),
    },
  };
}

/** Returns true if the authorization endpoint goes on with the request of a login. */
async function replayRequest(
  profile: ClientProfile,
  subject: Subject,
  found: DiscoveredServer,
  client: Registration,
): Promise<ReplayStep> {
  const name = 'authorization request';
  const outcome = await sendAuthorization(subject, found, client, { redirect_uri: profile.redirectUri });
  const { evidence } = outcome;
  const saw = `The request with ${profile.redirectUri} ${describeOutcome(outcome)}.`;
  if (outcome.kind === 'broken' && client.source === 'metadata_document')
    return { name, kind: 'stops', saw, clause, fix: documentsNotFetchedFix, evidence };
  if (outcome.kind === 'none' || outcome.kind === 'broken') return { name, kind: 'unknown', saw, evidence };
  const isBad =
    outcome.kind === 'refused' || (outcome.kind === 'error' && outcome.error !== 'login_required');
  if (!isBad) return { name, kind: 'goes_on', saw, evidence };
  const isTarget = outcome.kind === 'error' && outcome.error === 'invalid_target';
  return {
    name,
    kind: 'stops',
    saw,
    clause: isTarget ? 'RFC 8707 section 2' : 'RFC 8252 section 7.3',
    fix: isTarget
      ? `Have the authorization server issue tokens for ${quote(found.resource)}, the resource that is published.`
      : 'Accept any port of a loopback redirect URI, localhost, 127.0.0.1 and [::1] alike.',
    evidence,
  };
}

/**
 * Replays how the client gets its id, and whether a login may begin with it. It registers and asks the authorization
 * endpoint only in an active examination; its registration is deleted at the end if the server offers that (RFC 7592).
 * @param profile the client
 * @param subject the server under examination
 * @param issuer the authorization server
 * @param resource the metadata of the resource
 */
export async function replayRegistration(
  profile: ClientProfile,
  subject: Subject,
  issuer: TakenIssuer,
  resource: TakenResource | undefined,
): Promise<ReplayStep[]> {
  const name = 'registration';
  const way = chooseWay(profile, issuer);
  if (way === undefined)
    return [
      {
        name,
        kind: 'stops',
        saw: `It gets an id by ${profile.registration.map((one) => (one === 'dynamic' ? 'dynamic registration' : 'its metadata document')).join(' or ')}, and the server offers neither.`,
        clause,
        fix: 'Publish registration_endpoint (RFC 7591) or "client_id_metadata_document_supported": true, or give users a client id to enter.',
      },
    ];
  const found = discovered(subject, issuer, resource);
  if (way === 'metadata_document' && profile.metadataDocument !== undefined) {
    const { url } = profile.metadataDocument;
    const offered: ReplayStep = { name, kind: 'goes_on', saw: `by its metadata document ${url}` };
    if (!subject.active) return [offered];
    const client: Registration = {
      issuer: issuer.issuer,
      clientId: url,
      redirectUris: [profile.redirectUri],
      source: 'metadata_document',
    };
    return [offered, await replayRequest(profile, subject, found, client)];
  }
  if (!subject.active)
    return [{ name, kind: 'goes_on', saw: 'by dynamic registration, which is tried with --active only' }];
  const attempt = await tryRegistration(subject, found, {
    application_type: undefined,
    ...profile.registrationBody,
    client_name: `Gatehouse doctor as ${profile.title}`,
  });
  const { evidence } = attempt.answer;
  if (attempt.client === undefined)
    return [
      {
        name,
        kind: 'stops',
        saw: `Its registration with ${profile.registrationBody.redirect_uris.map((uri) => quote(uri)).join(', ')} got ${describeRefusal(attempt)}.`,
        clause: 'RFC 7591 section 3.2.1',
        fix: 'Accept these redirect URIs together, as those of a native client, and ignore members that are not known.',
        evidence,
      },
    ];
  const kept = stringsOf(attempt.body?.redirect_uris) ?? [];
  const dropped = profile.registrationBody.redirect_uris.filter((uri) => !kept.includes(uri));
  if (dropped.length > 0 && kept.length > 0)
    return [
      {
        name,
        kind: 'stops',
        saw: `The registration came back without ${dropped.map((uri) => quote(uri)).join(', ')}.`,
        clause: 'RFC 7591 section 3.2.1',
        fix: 'Keep redirect URIs as they were sent.',
        evidence,
      },
    ];
  const registered: ReplayStep = { name, kind: 'goes_on', saw: 'by dynamic registration', evidence };
  return [registered, await replayRequest(profile, subject, found, attempt.client)];
}
