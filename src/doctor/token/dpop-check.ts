import type { Credential } from '../../client/index.ts';
import { sendAuthorized } from '../../client/session/send-authorized.ts';
import { createDpopKey } from '../../client/tokens/dpop.ts';
import { refreshCredential } from '../../client/tokens/renewal.ts';
import { parseChallenges } from '../../oauth/challenge.ts';
import { type Answer, ask } from '../ask.ts';
import type { Check } from '../check.ts';
import type { Judgement } from '../finding.ts';
import { fail, pass, skip, unknown, warn } from '../judgements.ts';
import { consentPatienceMs } from '../login/consent.ts';
import { spareSession } from '../login/second-session.ts';
import { credentialOf, spendRefreshToken } from '../login/session.ts';
import { mcpRequest } from '../requests.ts';
import type { Subject } from '../subject.ts';
import { pingWith } from './token-use.ts';

const ping = mcpRequest('ping');

/** Sends one request with a proof and gives its headers, so that the same proof can be sent again. */
async function sendProven(
  subject: Subject,
  bound: Credential,
): Promise<{ status: number; headers: Headers }> {
  const { context } = subject;
  let sent = new Headers();
  const fetch: typeof context.fetch = (url, init) => {
    sent = new Headers(init?.headers);
    return context.fetch(url, init);
  };
  const response = await sendAuthorized({ ...context, fetch }, bound, subject.url, ping);
  await response.body?.cancel();
  return { status: response.status, headers: sent };
}

function isTaken(answer: Answer): boolean {
  return answer.kind === 'answered' && answer.status !== 401;
}

/** Returns true if the MCP server asks for proofs (RFC 9449 section 7.1). */
async function offersDpop(subject: Subject): Promise<boolean> {
  const answer = await ask(subject, subject.url, ping);
  if (answer.kind === 'unanswered') return false;
  return parseChallenges(answer.headers.get('www-authenticate') ?? '').some(
    ({ scheme }) => scheme === 'dpop',
  );
}

async function judgeBound(subject: Subject, bound: Credential): Promise<Judgement> {
  const { status, headers } = await sendProven(subject, bound);
  if (status === 401)
    return fail(
      'The MCP server refused a token bound to a key with a new proof for this request.',
      'Verify htm, htu, iat, jti, ath and the thumbprint in cnf.jkt against the request as the client sent it: behind a proxy htu is the public URL.',
    );
  if (isTaken(await pingWith(subject, bound.accessToken)))
    return fail(
      'The MCP server took a token that is bound to a key without any proof, as a bearer token.',
      'Refuse tokens with cnf.jkt unless they come with the scheme DPoP and a proof (RFC 9449 section 7.2).',
    );
  if (isTaken(await ask(subject, subject.url, { ...ping, headers })))
    return warn(
      'The MCP server took the same proof twice.',
      'Remember the jti of proofs as long as their iat is accepted, and refuse one that comes again (RFC 9449 section 11.1).',
    );
  return pass('A proof was accepted; the same proof again, and the token without a proof, were refused.');
}

/** Tokens bound to a key are worth nothing to a thief. */
export const dpopCheck: Check = {
  id: 'TOKEN-DPOP',
  section: 'token',
  title: 'A token bound to a key is taken with a new proof only',
  clause: 'RFC 9449 sections 7.1, 7.2 and 11.1',
  active: true,
  needs: ['LOGIN-REQUEST', 'LOGIN-STATE', 'LOGIN-ISS', 'LOGIN-CODE'],
  patienceMs: 2 * consentPatienceMs,
  async judge(subject) {
    const session = await subject.fact(spareSession);
    if (session.kind === 'missing') return session.judgement;
    const { authorizationServer: as } = session.found;
    const algorithms = as.dpop_signing_alg_values_supported;
    if (algorithms === undefined)
      return skip('The authorization server does not announce DPoP (dpop_signing_alg_values_supported).');
    if (!(await offersDpop(subject)))
      return skip(
        'The authorization server can bind tokens, but the MCP server does not ask for DPoP in its challenge.',
      );
    const { refreshToken } = session.held;
    if (refreshToken === undefined)
      return unknown('Without a refresh token no token bound to a key can be had without a third login.');
    const { context } = subject;
    const dpopKey = await createDpopKey(algorithms);
    const unbound = { ...credentialOf(session, context.now()), refreshToken, dpopKey };
    const renewal = await refreshCredential(context, unbound, session.client);
    if (renewal.kind === 'refused') {
      spendRefreshToken(session);
      if (renewal.refusal.error !== 'invalid_dpop_proof')
        return unknown(`No token bound to a key could be had by a refresh. ${renewal.refusal.message}`);
      return warn(
        `The metadata announces DPoP, but a refresh with a proof was refused. ${renewal.refusal.message}`,
        'Accept proofs at the token endpoint, or take dpop_signing_alg_values_supported away.',
      );
    }
    session.held = { ...session.held, refreshToken: renewal.credential.refreshToken ?? refreshToken };
    if (renewal.credential.dpopKey === undefined)
      return unknown(
        'A refresh with a proof gave a bearer token: the login was not for tokens bound to a key.',
      );
    return judgeBound(subject, renewal.credential);
  },
};
