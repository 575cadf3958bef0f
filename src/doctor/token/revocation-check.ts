import { clientAuthentication } from '../../client/oauth-client.ts';
import { quote } from '../../client/quote.ts';
import { parseObject } from '../../oauth/foreign-json.ts';
import { type Answer, ask } from '../ask.ts';
import type { Check } from '../check.ts';
import { fail, pass, skip, unknown, warn } from '../judgements.ts';
import { consentPatienceMs } from '../login/consent.ts';
import { spareSession } from '../login/second-session.ts';
import type { Session } from '../login/session.ts';
import type { Subject } from '../subject.ts';
import { isTokenTaken } from './token-use.ts';

/** Times at which a revoked token is tried, in seconds after the response to the revocation. */
const revokedAfterSeconds = [0, 0.25, 0.5, 1, 2, 4, 8] as const;

/** Asks the authorization server to end an access token (RFC 7009 section 2.1). */
async function revoke(subject: Subject, { found, client, held }: Session, endpoint: string): Promise<Answer> {
  const { authorizationServer: as } = found;
  const body = new URLSearchParams({ token: held.accessToken, token_type_hint: 'access_token' });
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  const authenticate = clientAuthentication(client, as.token_endpoint_auth_methods_supported);
  await authenticate(as, { client_id: client.clientId }, body, headers);
  return ask(subject, endpoint, { method: 'POST', headers, body: body.toString() });
}

/** A revoked token opens nothing. */
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
