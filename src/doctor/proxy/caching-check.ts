import { parseChallenges } from '../../oauth/challenge.ts';
import type { Answer, Answered } from '../ask.ts';
import type { Check } from '../check.ts';
import { fail, pass, unknown, warn } from '../judgements.ts';
import { anonymousGet, documentOf, hintsFor, metadataAnswers, strangerGet, strangerPost } from './way.ts';

/** Headers that show that a response came from a cache. */
function cacheMark({ headers }: Answered): string | undefined {
  const age = headers.get('age');
  if (age !== null && Number(age) > 0) return `Age: ${age}`;
  for (const name of ['x-cache', 'cf-cache-status', 'x-proxy-cache', 'x-cache-status', 'cache-status']) {
    const value = headers.get(name);
    if (value !== null && /\bhit\b/i.test(value)) return `${name}: ${value.slice(0, 60)}`;
  }
  return undefined;
}

const errorOf = (answer: Answer): string | undefined =>
  answer.kind === 'answered'
    ? parseChallenges(answer.headers.get('www-authenticate') ?? '').find(({ parameters }) => parameters.error)
        ?.parameters.error
    : undefined;

/** Answers of the server are not kept and given to others. */
export const cachingCheck: Check = {
  id: 'PROXY-CACHING',
  section: 'proxy',
  title: 'No cache answers instead of the server',
  clause: 'RFC 9111 section 3.5',
  async judge(subject) {
    const [anonymous, stranger] = [await subject.fact(anonymousGet), await subject.fact(strangerGet)];
    for (const answer of [anonymous, stranger]) {
      const mark = answer.kind === 'answered' ? cacheMark(answer) : undefined;
      if (mark === undefined || answer.kind === 'unanswered') continue;
      return fail(
        `The answer to GET ${subject.url} (status ${answer.status}) came from a cache (${mark}): a 401 then stays after the login.`,
        'Keep caches away from this path.',
        await hintsFor(subject, 'caching'),
      );
    }
    const toPost = errorOf(await subject.fact(strangerPost));
    if (
      toPost !== undefined &&
      errorOf(stranger) === undefined &&
      stranger.kind === 'answered' &&
      stranger.status === 401
    )
      return fail(
        `POST with a token nobody issued is refused with ${toPost}; GET with the same token gets the answer that one without a token got before: a cache gave it.`,
        'Keep caches away from this path; a 401 then stays after the login.',
        await hintsFor(subject, 'caching'),
      );
    const kept = (await subject.fact(metadataAnswers)).find(
      (answer): answer is Answered =>
        answer.kind === 'answered' &&
        documentOf(answer) !== undefined &&
        cacheMark(answer) !== undefined &&
        !answer.headers.has('cache-control'),
    );
    if (kept !== undefined)
      return warn(
        `${kept.url} came from a cache (${cacheMark(kept)}) without Cache-Control: changes show late, at a time nobody knows.`,
        'Have the server say how long (Cache-Control: max-age=300), or keep the cache away.',
        await hintsFor(subject, 'caching'),
      );
    if (anonymous.kind === 'unanswered') return unknown(`GET gave no answer: ${anonymous.why}.`);
    return pass('Nothing shows that a cache answered.');
  },
};
