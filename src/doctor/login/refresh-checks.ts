import type { Check } from '../check.ts';
import { fail, pass, unknown, warn } from '../judgements.ts';
import { consentPatienceMs } from './consent.ts';
import { firstRefresh, parallelRefresh, reuse, reusePatienceMs } from './refreshes.ts';
import { describeTokenAnswer } from './token-answer.ts';

/** Common parts of the refresh checks. */
const ofRefreshing = {
  section: 'login',
  active: true,
  needs: ['LOGIN-REQUEST', 'LOGIN-STATE', 'LOGIN-ISS', 'LOGIN-CODE'],
  patienceMs: consentPatienceMs,
} as const;

/** A refresh long before the end, with the resource. */
export const refreshCheck: Check = {
  ...ofRefreshing,
  id: 'LOGIN-REFRESH',
  title: 'A refresh token is redeemed at any time, with the resource named',
  clause: 'RFC 6749 section 6; RFC 8707 section 2.2',
  async judge(subject) {
    const step = await subject.fact(firstRefresh);
    if (step.kind === 'undone') return step.judgement;
    const { answer } = step;
    const { evidence } = answer.answer;
    const saw = `A refresh right after the login ${describeTokenAnswer(answer)}.`;
    if (answer.answer.kind === 'unanswered') return unknown(saw, { evidence });
    if (answer.tokens !== undefined) return pass(saw, { evidence });
    return fail(
      saw,
      answer.error === 'invalid_target'
        ? 'Accept at the refresh the resource that the login was for.'
        : 'Redeem refresh tokens whenever they come, also before the access token ends: clients renew ahead of time.',
      { evidence },
    );
  },
};

/** A refresh token of a public client works once. */
export const rotationCheck: Check = {
  ...ofRefreshing,
  needs: [...ofRefreshing.needs, 'LOGIN-REFRESH'],
  id: 'LOGIN-ROTATION',
  title: 'Each refresh gives a public client a new refresh token',
  clause: 'RFC 9700 section 2.2.2',
  async judge(subject) {
    const step = await subject.fact(firstRefresh);
    if (step.kind === 'undone') return step.judgement;
    const { answer, used, session } = step;
    const { evidence } = answer.answer;
    if (answer.tokens === undefined)
      return unknown('The login cannot be refreshed.', { because: 'LOGIN-REFRESH', evidence });
    const issued = answer.tokens.refreshToken;
    if (issued !== undefined && issued !== used)
      return pass('The refresh gave a new refresh token.', { evidence });
    const saw =
      issued === undefined
        ? 'The refresh gave no refresh token: the old one stays.'
        : 'The refresh gave the same refresh token again.';
    if (session.client.clientSecret !== undefined)
      return pass(`${saw} The client has a secret, so rotation is not required.`, { evidence });
    return warn(
      saw,
      'Rotate the refresh tokens of public clients, or bind them to a key (DPoP): a stolen one is otherwise good until it ends, unseen.',
      { evidence },
    );
  },
};

/** Our own client never loses a race against itself. */
export const parallelRefreshCheck: Check = {
  ...ofRefreshing,
  needs: [...ofRefreshing.needs, 'LOGIN-REFRESH'],
  id: 'LOGIN-PARALLEL-REFRESH',
  title: 'Many requests whose token ended at once are served by one refresh',
  clause: 'RFC 9700 section 4.14.2; RFC 6749 section 6',
  async judge(subject) {
    const step = await subject.fact(parallelRefresh);
    if (step.kind === 'undone') return step.judgement;
    const { askers, served, redemptions, tokens } = step;
    const saw = `${askers} requests asked this client for a token at once: ${served} were served with ${tokens} access token(s), by ${redemptions} request(s) to the token endpoint.`;
    if (served === askers && redemptions === 1 && tokens === 1) return pass(saw);
    return fail(
      saw,
      'If a second refresh after the first fails, the server has ended the login at the first: look for "reuse detected" in its log.',
    );
  },
};

/** A stolen refresh token shows when it is used twice. */
export const reuseCheck: Check = {
  ...ofRefreshing,
  needs: [...ofRefreshing.needs, 'LOGIN-REFRESH'],
  patienceMs: consentPatienceMs + reusePatienceMs,
  id: 'LOGIN-REUSE',
  title: 'A refresh token that comes back gets no new tokens, and ends the login',
  clause: 'RFC 9700 section 4.14.2',
  async judge(subject) {
    const step = await subject.fact(reuse);
    if (step.kind === 'undone') return step.judgement;
    const { takenUntil, renewedAt, refusedAfter, refusal, latest, evidence } = step;
    if (refusal === undefined && renewedAt === undefined)
      return unknown(
        `A used refresh token gets the answer of its use again, the same access token and the same refresh token, for ${takenUntil} seconds at least. Nobody gains a login by that; whether it ends the login after that was not waited for.`,
        { evidence },
      );
    if (refusal === undefined)
      return fail(
        `A used refresh token was still redeemed ${takenUntil} seconds after its use, for new tokens.`,
        'Refuse a used refresh token with invalid_grant, at the latest some seconds after its use, and end all tokens of the login then. Until that give the same answer again, not new tokens.',
        { evidence },
      );
    if (refusal.answer.kind === 'unanswered')
      return unknown(`The second use ${describeTokenAnswer(refusal)}.`, { evidence });
    const window =
      takenUntil === undefined
        ? `There is no grace window once the newer token was used: the second use, ${refusedAfter} seconds after the first, ${describeTokenAnswer(refusal)}.`
        : `The grace window ends between ${takenUntil} and ${refusedAfter} seconds after the use; then the token ${describeTokenAnswer(refusal)}.`;
    if (renewedAt !== undefined)
      return warn(
        `A used refresh token got new tokens ${renewedAt} seconds after its use. ${window}`,
        'Within the grace window give the answer of the first use again, not new tokens: with tokens of their own, both holders of a stolen refresh token go on, and neither is noticed.',
        { evidence },
      );
    if (refusal.error === undefined) return unknown(window, { because: 'LOGIN-TOKEN-ERROR', evidence });
    if (refusal.error !== 'invalid_grant')
      return warn(
        window,
        'Refuse a used refresh token with status 400 and invalid_grant: on any other error clients keep the login and try again.',
        { evidence },
      );
    if (latest?.error === 'invalid_grant')
      return pass(`${window} The newest refresh token of the login was refused after that.`, { evidence });
    if (latest?.tokens === undefined)
      return unknown(
        `${window} The newest refresh token ${latest === undefined ? 'was not tried' : describeTokenAnswer(latest)}.`,
        { evidence },
      );
    return warn(
      `${window} But the newest refresh token of the login still works: whoever used it first keeps the login.`,
      'End all tokens of the login when a used refresh token comes back: nobody can tell which of the two holders is the thief.',
      { evidence },
    );
  },
};
