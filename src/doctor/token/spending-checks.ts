import {
  clientAuthentication,
  createDpopKey,
  refreshCredential,
  sendAuthorized,
} from '../../client/building-blocks.ts';
import type { Credential } from '../../client/index.ts';
import { quote } from '../../client/quote.ts';
import { parseChallenges } from '../../oauth/challenge.ts';
import { parseObject } from '../../oauth/foreign-json.ts';
import { canonicalResource } from '../../oauth/resource-indicator.ts';
import { type Answer, ask } from '../ask.ts';
import { type Check, fail, type Judgement, pass, skip, unknown, warn } from '../check.ts';
import { codeOnceCheck, codeRedirectCheck, codeRevokesCheck, verifierCheck } from '../login/code-checks.ts';
import { consentPatienceMs } from '../login/consent.ts';
import { parallelRefreshCheck, refreshCheck, reuseCheck, rotationCheck } from '../login/refresh-checks.ts';
import { spareSession } from '../login/second-session.ts';
import {
  credentialOf,
  describeTokenAnswer,
  refreshSession,
  type Session,
  spendRefreshToken,
} from '../login/session.ts';
import { mcpRequest } from '../requests.ts';
import type { Subject } from '../subject.ts';
import { readClaims } from './claims-checks.ts';
import { isTokenTaken, pingWith } from './token-at-hand.ts';

const ping = mcpRequest('ping');

/**
 * Sends one request with a proof.
 * @returns its headers, so that the same proof can be sent again
 */
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

/** Returns true if the MCP server supports DPoP (RFC 9449 section 7.1). */
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

/** Checks that tokens with a key are useless without it. */
const dpopCheck: Check = {
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

/** A resource of nobody, requested if the user names no other. */
const nobodys = 'https://doctor.invalid/mcp';

/** Checks that the server rejects tokens for other resources. */
const otherAudienceCheck: Check = {
  id: 'TOKEN-OTHER-AUDIENCE',
  section: 'token',
  title: 'A token issued for another resource is refused',
  clause: 'MCP authorization "Token Audience Binding and Validation"; RFC 9068 section 4',
  active: true,
  needs: ['LOGIN-REQUEST', 'LOGIN-STATE', 'LOGIN-ISS', 'LOGIN-CODE', 'TOKEN-AUDIENCE'],
  patienceMs: 2 * consentPatienceMs,
  async judge(subject) {
    const session = await subject.fact(spareSession);
    if (session.kind === 'missing') return session.judgement;
    const { resource } = session.found;
    const other = subject.login?.otherResource ?? nobodys;
    if (canonicalResource(other) === canonicalResource(resource))
      return skip(`${other} is the resource under examination itself.`);
    if (session.held.refreshToken === undefined)
      return unknown('Without a refresh token no token for another resource can be had.');
    const before = session.held;
    const answer = await refreshSession(subject, session, { resource: other });
    const issued = answer.tokens;
    if (issued === undefined) {
      spendRefreshToken(session);
      const refused = `a refresh for ${quote(other)} ${describeTokenAnswer(answer)}.`;
      return answer.error === 'invalid_target'
        ? skip(`The authorization server issues none: ${refused}`)
        : unknown(`No such token could be had: ${refused}`);
    }
    session.held = { ...session.held, accessToken: before.accessToken };
    const { context } = subject;
    const stray = { ...credentialOf(session, context.now()), accessToken: issued.accessToken };
    const aud = readClaims(stray.accessToken)?.payload.aud;
    const audiences = aud === undefined ? undefined : [aud].flat();
    if (audiences === undefined)
      return unknown(
        `A refresh for ${quote(other)} gave an opaque token; whether it is for that resource cannot be told.`,
      );
    if (audiences.some((one) => canonicalResource(one) === canonicalResource(resource)))
      return unknown(
        `A refresh for ${quote(other)} gave a token with aud ${quote(aud)}: the resource was ignored, so no token for another one can be had this way.`,
      );
    const taken = await isTokenTaken(subject, stray.accessToken);
    const saw = `A token with aud ${quote(aud)} was ${taken ? 'accepted' : 'refused'} at ${resource}.`;
    if (taken === undefined)
      return unknown('The MCP server gave no answer to a token with another audience.');
    if (!taken) return pass(saw);
    return fail(
      saw,
      `Have the MCP server verify that aud is ${quote(resource)}, and answer 401 with error="invalid_token" otherwise.`,
    );
  },
};

/** Times at which a revoked token is tried, in seconds after the response to the revocation. */
const revokedAfterSeconds = [0, 0.25, 0.5, 1, 2, 4, 8] as const;

/** Revokes an access token (RFC 7009 section 2.1). */
async function revoke(subject: Subject, { found, client, held }: Session, endpoint: string): Promise<Answer> {
  const { authorizationServer: as } = found;
  const body = new URLSearchParams({ token: held.accessToken, token_type_hint: 'access_token' });
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  const authenticate = clientAuthentication(client, as.token_endpoint_auth_methods_supported);
  await authenticate(as, { client_id: client.clientId }, body, headers);
  return ask(subject, endpoint, { method: 'POST', headers, body: body.toString() });
}

/** Checks that a revoked token is rejected. */
export const revocationCheck: Check = {
  id: 'TOKEN-REVOKED',
  section: 'token',
  title: 'A revoked access token is refused, soon',
  clause: 'RFC 7009 sections 2 and 2.1',
  active: true,
  needs: ['LOGIN-REQUEST', 'LOGIN-STATE', 'LOGIN-ISS', 'LOGIN-CODE', 'TOKEN-ACCEPTED'],
  patienceMs: 2 * consentPatienceMs,
  async judge(subject) {
    const session = await subject.fact(spareSession);
    if (session.kind === 'missing') return session.judgement;
    const endpoint = session.found.authorizationServer.revocation_endpoint;
    if (endpoint === undefined) return skip('The authorization server has no revocation_endpoint.');
    const { accessToken } = session.held;
    if ((await isTokenTaken(subject, accessToken)) !== true)
      return unknown('The token was not taken before its revocation either.');
    const answer = await revoke(subject, session, endpoint);
    const { evidence } = answer;
    if (answer.kind === 'unanswered')
      return unknown(`No answer to the revocation: ${answer.why}.`, { evidence });
    const error = parseObject(answer.text)?.error;
    if (error === 'unsupported_token_type')
      return skip(
        'The authorization server revokes no access tokens (unsupported_token_type): they live until they end.',
        { evidence },
      );
    if (answer.status !== 200)
      return fail(
        `The revocation of an access token was answered with ${answer.status}${error === undefined ? '' : `, ${quote(error)}`}.`,
        'Answer a revocation with 200, and let public clients revoke with their client_id alone.',
        { evidence },
      );
    const revokedAt = Date.now();
    for (const seconds of subject.login?.revokedAfterSeconds ?? revokedAfterSeconds) {
      const waitMs = revokedAt + seconds * 1000 - Date.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      if ((await isTokenTaken(subject, accessToken)) === false)
        return pass(`The revoked token was refused ${Date.now() - revokedAt} ms after its revocation.`);
    }
    return warn(
      `The revocation was answered with 200, but the token was still accepted ${Math.round((Date.now() - revokedAt) / 100) / 10} s later.`,
      'Have the MCP server ask (introspection), or shorten the life of access tokens: one that is only verified by its signature cannot be taken back.',
    );
  },
};

/**
 * Checks that spend codes and tokens. They run last, in this order: the first login is refreshed, and then ended by the
 * reuse of a refresh token. Later checks first test if the second login is alive, because servers may have one grant
 * for both.
 */
export const spendingChecks: readonly Check[] = [
  verifierCheck,
  codeRedirectCheck,
  refreshCheck,
  rotationCheck,
  parallelRefreshCheck,
  reuseCheck,
  dpopCheck,
  otherAudienceCheck,
  revocationCheck,
  codeOnceCheck,
  codeRevokesCheck,
];
