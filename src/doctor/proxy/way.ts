import { protectedResourceMetadataUrls } from '../../oauth/well-known.ts';
import { type Answer, ask } from '../ask.ts';
import { isHtml } from '../describe-answer.ts';
import type { Judgement, ProxyProduct } from '../finding.ts';
import { unknown } from '../judgements.ts';
import type { Probe, Subject } from '../subject.ts';
import { type HintPlace, type ProxyFault, proxyHints } from './hints.ts';
import { mcpHeaders, message, spokenRevision } from './mcp-caller.ts';
import { findProxies, type SeenProxy } from './product.ts';

/** A token that no server has issued. */
const noToken = 'gatehouse-doctor-asks-with-no-token';

const asked = { 'mcp-protocol-version': spokenRevision };

/** Probe: a POST that has no effect, without a token. */
export const anonymousPost: Probe<Answer> = (subject) =>
  ask(subject, subject.url, { method: 'POST', headers: { ...mcpHeaders, ...asked }, body: message('ping') });

/** Probe: the same with a token nobody issued. */
export const strangerPost: Probe<Answer> = (subject) =>
  ask(subject, subject.url, {
    method: 'POST',
    headers: { ...mcpHeaders, ...asked, authorization: `Bearer ${noToken}` },
    body: message('ping'),
  });

/** A GET with a short wait: if the server is open it begins a stream. */
function get(subject: Subject, headers: Record<string, string>): Promise<Answer> {
  return ask(subject, subject.url, {
    headers: { ...asked, accept: 'text/event-stream', ...headers },
    signal: AbortSignal.timeout(3_000),
  });
}

/** Probe: a GET without a token. Caches store answers to GET. */
export const anonymousGet: Probe<Answer> = (subject) => get(subject, {});

/** Probe: a GET with a token nobody issued, behind {@link anonymousGet}. */
export const strangerGet: Probe<Answer> = async (subject) => {
  await subject.fact(anonymousGet);
  return get(subject, { authorization: `Bearer ${noToken}` });
};

/** Probe: the well-known places of protected resource metadata, in their order. */
export const metadataAnswers: Probe<Answer[]> = (subject) =>
  Promise.all(
    protectedResourceMetadataUrls(subject.url).map((url) =>
      ask(subject, url, { headers: { accept: 'application/json' } }),
    ),
  );

/** Probe: a place below `/.well-known/` if nothing is. */
export const missAnswer: Probe<Answer> = (subject) =>
  ask(subject, new URL('/.well-known/oauth-protected-resource/gatehouse-doctor-miss', subject.url).href, {
    headers: { accept: 'application/json' },
  });

/** Probe: the proxies that gave themselves away, each once. */
export const seenProxies: Probe<SeenProxy[]> = async (subject) => {
  const answers = [
    await subject.fact(anonymousPost),
    ...(await subject.fact(metadataAnswers)),
    await subject.fact(missAnswer),
  ];
  const found = answers.flatMap((answer) => (answer.kind === 'answered' ? findProxies(answer) : []));
  return found.filter(({ name }, at) => found.findIndex((other) => other.name === name) === at);
};

/**
 * The lines to change, for the products seen.
 * @param subject the server under examination
 * @param fault what is wrong
 * @param place the header that was lost; the path the lines are for, that of the server by default
 */
export async function hintsFor(
  subject: Subject,
  fault: ProxyFault,
  place: Partial<HintPlace> = {},
): Promise<Required<Pick<Judgement, 'hints'>>> {
  const seen = (await subject.fact(seenProxies)).flatMap(({ product }): ProxyProduct[] =>
    product === undefined ? [] : [product],
  );
  const { pathname } = new URL(subject.url);
  return { hints: proxyHints(fault, { path: pathname, ...place }, seen) };
}

/**
 * A JSON object in an answer with status 200.
 * @param answer the answer
 * @returns undefined for anything else
 */
export function documentOf(answer: Answer): Record<string, unknown> | undefined {
  if (answer.kind === 'unanswered' || answer.status !== 200) return undefined;
  try {
    const document: unknown = JSON.parse(answer.text);
    return typeof document === 'object' && document !== null && !Array.isArray(document)
      ? (document as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** @returns whether an answer is a page for people */
export function isPage(answer: Answer): boolean {
  return answer.kind === 'answered' && isHtml(answer);
}

/** @returns a judgement for a check that got no answer to judge */
export function judgeUnanswered(answer: Answer): Judgement {
  const why = answer.kind === 'unanswered' ? answer.why : `status ${answer.status}`;
  return unknown(`${answer.method} ${answer.url} gave nothing to judge: ${why}.`);
}
