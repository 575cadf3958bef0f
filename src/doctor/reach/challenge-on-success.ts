import type { Check } from '../check.ts';
import { pass, skip, warn } from '../judgements.ts';

/** A success asks for nothing. It looks back at all answers, so it stands behind the sections that get some. */
export const challengeOnSuccess: Check = {
  id: 'CHALLENGE-ON-SUCCESS',
  section: 'reach',
  title: 'Answers that succeed carry no challenge',
  clause: 'RFC 9110 section 11.6.1',
  async judge(subject) {
    const successes = subject.exchanges.filter(({ response }) => response && response.status < 300);
    if (successes.length === 0) return skip('Nothing has succeeded so far.', { evidence: [] });
    const odd = successes.find(({ response }) =>
      response?.headers.some(([name]) => name === 'www-authenticate'),
    );
    if (!odd) return pass(`None of ${successes.length} answers with 2xx has one.`, { evidence: [] });
    return warn(
      `${odd.request.method} ${odd.request.url} is answered with ${odd.response?.status} and WWW-Authenticate: clients take it for a refusal, and log in again and again.`,
      'Send WWW-Authenticate with 401 and 403 only.',
      { evidence: [odd.number] },
    );
  },
};
