/** What was made of a pasted text: the query of the redirect, or what is wrong with it. */
export type PastedAnswer = { query: URLSearchParams } | { problem: string };

/** Longest text taken for an address, in characters. */
export const maxPastedLength = 16 * 1024;

/** @returns the query of an address, or of the part of one, that was pasted */
function queryOf(text: string): URLSearchParams | undefined {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url.searchParams;
  const query = text.slice(text.indexOf('?') + 1);
  return /^(?:code|state|iss|error)=/.test(query) ? new URLSearchParams(query) : undefined;
}

/**
 * Reads what a user pasted instead of being redirected: the address that their browser, on another machine, could not
 * open, or its query. Line breaks of a terminal, quotes and angle brackets around it do no harm.
 * @param text what was pasted
 * @param expected the state the answer has to carry, and where the browser is sent to
 * @returns the query; or a sentence that says what was pasted instead. It repeats nothing of the text.
 * @see RFC 6749 sections 4.1.2 and 10.12 (A6-04, CL-6)
 */
export function readPastedAnswer(
  text: string,
  expected: { state: string; redirectUri: string },
): PastedAnswer {
  const wanted = `the whole address the browser ends at, beginning with ${expected.redirectUri}`;
  if (text.length > maxPastedLength) return { problem: `That is too long for an address. Paste ${wanted}.` };
  const bare = text.replace(/\s+/g, '').replace(/^["'<`]+|["'>`]+$/g, '');
  const query = queryOf(bare);
  if (query === undefined) return { problem: `That is no address with an answer in it. Paste ${wanted}.` };
  if (query.has('response_type') || query.has('code_challenge'))
    return {
      problem: `That is the address of the login itself. Open it, allow the access, then paste ${wanted}.`,
    };
  if (!query.has('code') && !query.has('error'))
    return {
      problem: `That address has no answer in it, maybe the login is not finished. Paste ${wanted}.`,
    };
  const states = query.getAll('state');
  if (states.length === 0)
    return { problem: `The part with "state=" is missing: the address is cut off. Paste ${wanted}.` };
  if (states.length > 1 || states[0] !== expected.state)
    return {
      problem:
        'That is the answer of another login, or it is cut off. Open the address shown above once more, and paste what comes of it.',
    };
  return { query };
}
