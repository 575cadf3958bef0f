import { quote } from '../client/quote.ts';
import type { Answer, Answered } from './ask.ts';

/** The media type of an answer in lower case, without parameters; `''` if there is none. */
export function mediaType({ headers }: Pick<Answered, 'headers'>): string {
  return (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** @returns whether an answer is a page for people */
export function isHtml({ headers }: Pick<Answered, 'headers'>): boolean {
  return /^\s*text\/html\b/i.test(headers.get('content-type') ?? '');
}

/**
 * An answer in a few words: status and media type, if it redirects to, or why there is none.
 * @param answer what came back
 */
export function describeAnswer(answer: Answer): string {
  if (answer.kind === 'unanswered')
    return answer.reason === 'refused' ? `not asked: ${answer.why}` : `no answer (${answer.why})`;
  const location = answer.headers.get('location');
  if (answer.status >= 300 && answer.status < 400 && location !== null)
    return `${answer.status} to ${quote(location)}`;
  const type = mediaType(answer);
  return type === ''
    ? `${answer.status}`
    : `${answer.status} ${/^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : quote(type)}`;
}
