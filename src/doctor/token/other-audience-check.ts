import { quote } from '../../client/quote.ts';
import { canonicalResource } from '../../oauth/resource-indicator.ts';
import type { Check } from '../check.ts';
import { fail, pass, skip, unknown } from '../judgements.ts';
import { consentPatienceMs } from '../login/consent.ts';
import { spareSession } from '../login/second-session.ts';
import { credentialOf, refreshSession, spendRefreshToken } from '../login/session.ts';
import { describeTokenAnswer } from '../login/token-answer.ts';
import { readClaims } from './claims.ts';
import { isTokenTaken } from './token-use.ts';

/** A resource that nobody has, requested if the user names no other. */
const nobodys = 'https://doctor.invalid/mcp';

/** A server that takes any token of its authorization server can be called with tokens meant for others. */
export const otherAudienceCheck: Check = {
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
