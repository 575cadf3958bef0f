import type { Check } from '../check.ts';
import type { Judgement } from '../finding.ts';
import { fail, pass, unknown, warn } from '../judgements.ts';
import { codeReuse } from './code-reuse.ts';
import { consentPatienceMs } from './consent.ts';
import { secondLogin } from './second-session.ts';
import { describeTokenAnswer } from './token-answer.ts';

const ofCodes = {
  section: 'login',
  active: true,
  needs: ['LOGIN-REQUEST', 'LOGIN-STATE', 'LOGIN-ISS', 'LOGIN-CODE'],
  patienceMs: 2 * consentPatienceMs,
} as const;

/** Judges a refusal: by the right error, by another one, or by what is no OAuth error and may be none at all. */
function judgeRefusal(error: string | undefined, saw: string): Judgement {
  if (error === 'invalid_grant') return pass(saw);
  if (error === undefined) return unknown(saw, { because: 'LOGIN-TOKEN-ERROR' });
  return warn(saw, 'Answer with status 400 and {"error":"invalid_grant"}.');
}

/** Checks that the verifier is compared, without which PKCE is worth nothing. */
export const verifierCheck: Check = {
  ...ofCodes,
  id: 'LOGIN-VERIFIER',
  title: 'A code is not exchanged with a wrong code_verifier',
  clause: 'RFC 7636 section 4.6',
  async judge(subject) {
    const second = await subject.fact(secondLogin);
    if (second.kind === 'missing') return second.judgement;
    const { wrongVerifier } = second;
    const { answer, tokens, error } = wrongVerifier;
    const { evidence } = answer;
    const saw = `A code with another code_verifier ${describeTokenAnswer(wrongVerifier)}.`;
    if (answer.kind === 'unanswered') return unknown(saw, { evidence });
    if (tokens !== undefined)
      return fail(
        saw,
        'Keep code_challenge with the code, and compare it with the SHA-256 of code_verifier in base64url. As it is, whoever steals a code can use it.',
        { evidence },
      );
    return { ...judgeRefusal(error, saw), evidence };
  },
};

/** A code is for the redirect URI it was sent to. */
export const codeRedirectCheck: Check = {
  ...ofCodes,
  needs: [...ofCodes.needs, 'LOGIN-VERIFIER'],
  id: 'LOGIN-CODE-REDIRECT',
  title: 'A code is not exchanged with another redirect_uri than it was sent to',
  clause: 'RFC 6749 section 4.1.3',
  async judge(subject) {
    const second = await subject.fact(secondLogin);
    if (second.kind === 'missing') return second.judgement;
    const { wrongRedirect, session } = second;
    if (wrongRedirect === undefined)
      return unknown('The code was gone by then.', { because: 'LOGIN-VERIFIER' });
    const { answer, tokens } = wrongRedirect;
    const { evidence } = answer;
    const saw = `A code with another redirect_uri ${describeTokenAnswer(wrongRedirect)}.`;
    if (tokens !== undefined)
      return warn(
        saw,
        'Compare redirect_uri with that of the authorization request wherever a client sends one.',
        { evidence },
      );
    if (answer.kind === 'unanswered') return unknown(saw, { evidence });
    if (session.kind === 'open') return pass(`${saw} With the right one it was exchanged.`, { evidence });
    return unknown(
      `${saw} So was the right one after it: the server drops a code at the first wrong redemption, and what it compared cannot be told.`,
      { evidence },
    );
  },
};

/** A code works once. */
export const codeOnceCheck: Check = {
  ...ofCodes,
  id: 'LOGIN-CODE-ONCE',
  title: 'A code is exchanged once',
  clause: 'RFC 6749 section 4.1.2',
  async judge(subject) {
    const probe = await subject.fact(codeReuse);
    if (probe.kind === 'untried') return probe.judgement;
    const { again } = probe;
    const { answer, tokens, error } = again;
    const { evidence } = answer;
    const saw = `The second redemption of a code ${describeTokenAnswer(again)}.`;
    if (answer.kind === 'unanswered') return unknown(saw, { evidence });
    if (tokens !== undefined)
      return fail(
        saw,
        'Mark a code as used in the same step that issues its tokens, and refuse it from then on.',
        { evidence },
      );
    return { ...judgeRefusal(error, saw), evidence };
  },
};

/** A code that comes twice was stolen, and so may be its tokens. */
export const codeRevokesCheck: Check = {
  ...ofCodes,
  needs: [...ofCodes.needs, 'LOGIN-CODE-ONCE'],
  id: 'LOGIN-CODE-REVOKES',
  title: 'The second use of a code ends the tokens of the first',
  clause: 'RFC 6749 section 4.1.2',
  async judge(subject) {
    const probe = await subject.fact(codeReuse);
    if (probe.kind === 'untried') return probe.judgement;
    const { aliveBefore, aliveAfter, isRefreshable } = probe;
    if (!aliveBefore)
      return unknown(
        'The tokens of the first redemption had ended before the code came again, by what a check before this one did (TOKEN-REVOKED, LOGIN-REUSE or TOKEN-OTHER-AUDIENCE). With --only LOGIN-CODE-REVOKES it can be told.',
      );
    if (aliveAfter === undefined)
      return unknown(
        'Whether the login ended with that cannot be told: no answer came, or its refresh token had not worked before either, while its access token is accepted until it ends.',
      );
    if (!aliveAfter)
      return pass('The access token of the first redemption was accepted before and refused after.');
    if (isRefreshable === false)
      return pass(
        'The refresh token of the first redemption was refused after that; its access token is accepted until it ends (see TOKEN-REVOKED).',
      );
    return warn(
      'The access token of the first redemption was still accepted after the code had come a second time.',
      'Revoke what was issued for a code when the code comes again: one of the two who had it is a thief.',
    );
  },
};
