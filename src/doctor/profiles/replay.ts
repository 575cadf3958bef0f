import { quote } from '../../client/quote.ts';
import { isLocalAddress } from '../../client/url-policy.ts';
import type { ClientProfile } from '../../oauth/client-profiles/client-profile.ts';
import { ask, describeAnswer } from '../ask.ts';
import { mayRead, preflightFault } from '../cross-origin.ts';
import { stringsOf } from '../document.ts';
import { anonymousInitialize, firstRefusal, isSuccess } from '../reach/anonymous.ts';
import { browserOrigin, initializeRequest, preflightRequest } from '../requests.ts';
import { resourcePlaces } from '../resource/places.ts';
import type { Subject } from '../subject.ts';
import { replayIssuer, type TakenIssuer } from './issuer-replay.ts';
import { replayRegistration } from './registration-replay.ts';
import { type ReplayStep, replayResource } from './resource-replay.ts';

/**
 * Walks the way of a client to the login page of a server, as its profile describes it, up to the step at which it
 * stops.
 * @param profile the client
 * @param subject the server under examination
 * @returns the steps it took; only the last may be other than `goes_on`
 */
export async function replay(profile: ClientProfile, subject: Subject): Promise<readonly ReplayStep[]> {
  const steps: ReplayStep[] = [];
  /** Adds steps up to the first that is the last; says whether the client goes on. */
  const goesOn = (more: readonly ReplayStep[]): boolean => {
    for (const step of more) {
      steps.push(step);
      if (step.kind !== 'goes_on') return false;
    }
    return true;
  };
  if (!goesOn([replayAddress(profile, subject.url)])) return steps;
  if (!goesOn([await replayChallenge(profile, subject)])) return steps;
  const resource = await replayResource(profile, subject);
  if (!goesOn(resource.steps)) return steps;
  const issuer = await replayIssuer(profile, subject, resource.taken);
  if (!goesOn(issuer.steps) || issuer.taken === undefined) return steps;
  if (profile.runsOn === 'page' && !goesOn([await replayPage(subject, issuer.taken)])) return steps;
  goesOn(await replayRegistration(profile, subject, issuer.taken, resource.taken));
  return steps;
}

/**
 * Returns true if a page may send and read everything a login takes.
 * @param subject the server under examination
 * @param issuer the authorization server, if it was found
 * @see WHATWG Fetch, "CORS protocol" (AS-22)
 */
async function replayPage(subject: Subject, issuer: TakenIssuer | undefined): Promise<ReplayStep> {
  const name = 'CORS';
  const stop = (what: string, why: string, evidence: readonly number[]): ReplayStep => ({
    name,
    kind: 'stops',
    saw: `A page cannot use ${what}: ${why}.`,
    clause: 'WHATWG Fetch, CORS protocol',
    fix: 'Send Access-Control-Allow-Origin on the endpoint, its 401, the well-known documents, /token and /register, and answer their OPTIONS.',
    evidence,
  });
  const headers = ['content-type', 'mcp-protocol-version'];
  const preflight = await ask(subject, subject.url, preflightRequest('POST', [...headers, 'authorization']));
  const fault = preflightFault(preflight, 'POST', [...headers, 'authorization']);
  if (fault !== undefined) return stop(subject.url, fault, preflight.evidence);
  const refusal = await ask(subject, subject.url, initializeRequest({ origin: browserOrigin }));
  if (!mayRead(refusal))
    return stop('the 401', 'it has no Access-Control-Allow-Origin for it', refusal.evidence);
  const documents = (await subject.fact(resourcePlaces)).filter(
    ({ published }) => published.kind === 'document',
  );
  for (const { url } of documents.slice(0, 1)) {
    const answer = await ask(subject, url, {
      headers: { origin: browserOrigin, accept: 'application/json' },
    });
    if (!mayRead(answer)) return stop(url, 'it has no Access-Control-Allow-Origin for it', answer.evidence);
  }
  const endpoints = ['token_endpoint', 'registration_endpoint'].flatMap(
    (member) => stringsOf([issuer?.members[member]]) ?? [],
  );
  for (const url of endpoints) {
    const answer = await ask(subject, url, preflightRequest('POST', ['content-type']));
    const why = preflightFault(answer, 'POST', ['content-type']);
    if (why !== undefined) return stop(url, why, answer.evidence);
  }
  return { name, kind: 'goes_on', saw: `${browserOrigin} may read and send all it takes.` };
}

/** Returns true if the URL is one that the client can call at all. */
export function replayAddress(profile: ClientProfile, url: string): ReplayStep {
  const name = 'address';
  const parsed = URL.parse(url);
  if (parsed === null) return { name, kind: 'unknown', saw: `${quote(url)} is no URL.` };
  if (profile.runsOn !== 'cloud') return { name, kind: 'goes_on', saw: parsed.origin };
  const stop = (saw: string): ReplayStep => ({
    name,
    kind: 'stops',
    saw,
    clause: 'MCP authorization, Communication Security',
    fix: 'Publish the server under https on port 443 of a public name.',
  });
  if (isLocalAddress(parsed.hostname) || !parsed.hostname.includes('.'))
    return {
      name,
      kind: 'out_of_reach',
      saw: `${profile.title} calls from a data centre, where ${parsed.hostname} leads nowhere. It needs a public name, https and port 443.`,
    };
  if (parsed.protocol !== 'https:') return stop(`${profile.title} calls https only.`);
  if (parsed.port !== '') return stop(`${profile.title} calls port 443 only, not ${parsed.port}.`);
  return { name, kind: 'goes_on', saw: parsed.origin };
}

/** Returns true if the first refusal is one the client understands. */
async function replayChallenge(profile: ClientProfile, subject: Subject): Promise<ReplayStep> {
  const name = 'challenge';
  const { userAgent } = profile;
  const answer =
    userAgent === undefined
      ? await subject.fact(anonymousInitialize)
      : await ask(subject, subject.url, initializeRequest({ 'user-agent': userAgent }));
  const { evidence } = answer;
  if (answer.kind === 'unanswered')
    return { name, kind: 'unknown', saw: `No answer: ${answer.why}.`, evidence };
  const location = URL.parse(answer.headers.get('location') ?? '', answer.url);
  if (answer.status >= 300 && answer.status < 400 && location !== null) {
    const keeps = [307, 308].includes(answer.status) && location.origin === new URL(subject.url).origin;
    if (keeps)
      return { name, kind: 'goes_on', saw: `${answer.status} is followed to ${quote(location.href)}.` };
    return {
      name,
      kind: 'stops',
      saw: `${describeAnswer(answer)}: on the way there the token or the request is lost.`,
      clause: 'RFC 9110 section 15.4',
      fix: 'Serve the server at this URL, or give clients the one it leads to.',
      evidence,
    };
  }
  if (answer.status === 401)
    return { name, kind: 'goes_on', saw: 'It is asked for a login (401).', evidence };
  if (isSuccess(answer)) {
    const refusal = await subject.fact(firstRefusal);
    if (refusal !== undefined)
      return { name, kind: 'goes_on', saw: 'It is asked for a login at its first call.' };
    return { name, kind: 'inside', saw: 'The server asks for no login.', evidence };
  }
  const other = userAgent === undefined ? undefined : await subject.fact(anonymousInitialize);
  const isSingled = other?.kind === 'answered' && other.status === 401;
  return {
    name,
    kind: 'stops',
    saw: `${isSingled ? `To ${quote(userAgent)} the answer is` : 'The answer is'} ${describeAnswer(answer)}, not 401.`,
    clause: 'MCP authorization, Error Handling',
    fix: isSingled
      ? 'Take the rule off that blocks this user agent (bot rules, "Block AI bots", a WAF).'
      : 'Answer requests without a token with 401 and WWW-Authenticate.',
    evidence,
  };
}
