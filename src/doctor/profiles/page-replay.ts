import { ask } from '../ask.ts';
import { mayRead, preflightFault } from '../cross-origin.ts';
import { stringsOf } from '../document.ts';
import { browserOrigin, initializeRequest, preflightRequest } from '../requests.ts';
import { resourcePlaces } from '../resource/places.ts';
import type { Subject } from '../subject.ts';
import type { TakenIssuer } from './issuer-replay.ts';
import type { ReplayStep } from './replay-step.ts';

/**
 * Returns true if a page may send and read everything a login takes.
 * @param subject the server under examination
 * @param issuer the authorization server, if it was found
 * @see WHATWG Fetch, "CORS protocol" (AS-22)
 */
export async function replayPage(subject: Subject, issuer: TakenIssuer | undefined): Promise<ReplayStep> {
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
