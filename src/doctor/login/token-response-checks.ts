import { chooseScopes } from '../../client/index.ts';
import { quote } from '../../client/quote.ts';
import { missingScopes, parseScope } from '../../oauth/scope.ts';
import { type Check, type Judgement, pass, skip, unknown, warn } from '../check.ts';
import type { Subject } from '../subject.ts';
import { consentPatienceMs, firstConsent } from './consent.ts';
import { examinedClient } from './preflight.ts';
import { askForTokens, describeTokenAnswer, firstSession, type Session } from './session.ts';

/** Common parts of the checks of the login's tokens. */
const ofTheLogin = {
  section: 'login',
  active: true,
  needs: ['LOGIN-REQUEST', 'LOGIN-STATE', 'LOGIN-ISS'],
  patienceMs: consentPatienceMs,
} as const;

/** Judges the first login. */
async function judgeSession(subject: Subject, judge: (session: Session) => Judgement): Promise<Judgement> {
  const session = await subject.fact(firstSession);
  return session.kind === 'missing' ? session.judgement : judge(session);
}

/** Checks that a code can be redeemed. */
export const redemptionCheck: Check = {
  ...ofTheLogin,
  id: 'LOGIN-CODE',
  title: 'The code is exchanged for an access token',
  clause: 'RFC 6749 sections 4.1.3 and 4.1.4',
  async judge(subject) {
    const session = await subject.fact(firstSession);
    if (session.kind === 'open') return pass('The code was exchanged for an access token.');
    const consent = await subject.fact(firstConsent);
    if (consent.kind === 'missing') return consent.judgement;
    return {
      ...session.judgement,
      verdict: 'fail',
      fix: 'Look into the log of the authorization server: the request has the code, its redirect_uri, its code_verifier and the resource.',
    };
  },
};

/** Checks the token response, which must not be cached. */
export const tokenResponseCheck: Check = {
  ...ofTheLogin,
  id: 'LOGIN-TOKEN-RESPONSE',
  title: 'The token response says type and lifetime, and caches may not store it',
  clause: 'RFC 6749 section 5.1',
  judge: (subject) =>
    judgeSession(subject, ({ redemption: { answer, tokens, slips = [] } }) => {
      if (answer.kind === 'unanswered') return unknown(answer.why);
      const { evidence, headers } = answer;
      const caching = headers.get('cache-control');
      const type = headers.get('content-type');
      const tokenType = tokens?.tokenType;
      const faults = [
        ...(/\bno-store\b/i.test(caching ?? '')
          ? []
          : [`Cache-Control is ${quote(caching ?? 'missing')}, not no-store`]),
        ...(/^application\/json\b/i.test(type ?? '')
          ? []
          : [`the Content-Type is ${quote(type ?? 'missing')}`]),
        ...(/^(?:bearer|dpop)$/i.test(tokenType ?? '')
          ? []
          : [`token_type is ${quote(tokenType ?? 'missing')}`]),
        ...(tokens?.expiresInSeconds === undefined
          ? ['expires_in is missing, so that clients find out by failing']
          : []),
        ...slips,
      ];
      if (faults.length === 0)
        return pass(
          `token_type ${quote(tokenType)}, expires_in ${tokens?.expiresInSeconds}, Cache-Control ${quote(caching)}.`,
          { evidence },
        );
      return warn(
        `In the token response ${faults.join(', and ')}.`,
        'Answer 200 with application/json, without members that have no value, with Cache-Control: no-store, token_type "Bearer" and expires_in as a number of seconds.',
        { evidence },
      );
    }),
};

/** Checks that errors have a code that clients can act on. */
export const tokenErrorCheck: Check = {
  id: 'LOGIN-TOKEN-ERROR',
  section: 'login',
  title: 'A wrong token request is answered with an OAuth error in JSON',
  clause: 'RFC 6749 section 5.2',
  active: true,
  async judge(subject) {
    const ready = await subject.fact(examinedClient);
    if ('judgement' in ready) return ready.judgement;
    const { found, client } = ready;
    const given = await askForTokens(subject, found.authorizationServer, client, {
      grant_type: 'authorization_code',
      code: 'gatehouse-doctor-asks-with-a-code-that-was-never-issued',
      redirect_uri: 'http://127.0.0.1:53682/callback',
      code_verifier: 'gatehouse-doctor-asks-with-a-verifier-of-no-code',
      resource: found.resource,
    });
    const { answer, error } = given;
    const { evidence } = answer;
    if (answer.kind === 'unanswered') return unknown(answer.why, { evidence });
    const saw = `A request with a code that was never issued ${describeTokenAnswer(given)}.`;
    if (error === 'invalid_grant' && answer.status === 400) return pass(saw, { evidence });
    return {
      verdict: error === undefined ? 'fail' : 'warn',
      saw,
      fix: 'Answer with status 400 and {"error":"invalid_grant"} as application/json. Clients log in again on that error only, and cannot read a page.',
      evidence,
    };
  },
};

/** Checks the granted scopes. */
export const scopeCheck: Check = {
  ...ofTheLogin,
  id: 'LOGIN-SCOPE',
  title: 'The scopes granted are those asked for',
  clause: 'RFC 6749 sections 3.3 and 5.1',
  judge: (subject) =>
    judgeSession(subject, ({ found, redemption: { tokens, answer } }) => {
      const { evidence } = answer;
      const asked = chooseScopes(found);
      if (asked.length === 0)
        return skip('The server names no scopes, so none were asked for.', { evidence });
      if (tokens?.scope === undefined)
        return pass(`No scope came back, which means all of ${quote(asked.join(' '))}.`, { evidence });
      const missing = missingScopes(parseScope(tokens.scope), asked).filter(
        // What it asks for is a refresh token; many servers issue one and leave the scope out of the answer.
        (scope) => scope !== 'offline_access' || tokens.refreshToken === undefined,
      );
      const saw = `Asked for ${quote(asked.join(' '))}, granted ${quote(tokens.scope)}`;
      if (missing.length === 0) return pass(`${saw}.`, { evidence });
      return warn(
        `${saw}: ${missing.join(' ')} missing.`,
        'If the user took nothing away at the consent, let scopes_supported and the scope of the challenge name only what this client can get.',
        { evidence },
      );
    }),
};

/** Checks for a refresh token: without it the user must log in again and again. */
export const refreshTokenCheck: Check = {
  ...ofTheLogin,
  id: 'LOGIN-REFRESH-TOKEN',
  title: 'The login can be renewed without the user',
  clause: 'MCP authorization "Refresh Tokens"; RFC 6749 section 1.5',
  judge: (subject) =>
    judgeSession(subject, ({ found, redemption: { tokens, answer } }) => {
      const { evidence } = answer;
      if (tokens?.refreshToken !== undefined) return pass('A refresh token was issued.', { evidence });
      const { grant_types_supported: grants, scopes_supported: scopes } = found.authorizationServer;
      const seconds = tokens?.expiresInSeconds;
      const until = seconds === undefined ? 'at a time nobody knows' : `after ${seconds} seconds`;
      const why =
        grants !== undefined && !grants.includes('refresh_token')
          ? 'grant_types_supported has no refresh_token'
          : scopes?.includes('offline_access')
            ? 'offline_access was asked for, and the client is registered with the grant type refresh_token'
            : 'grant_types_supported has refresh_token, and scopes_supported has no offline_access to ask for';
      return warn(
        `No refresh token was issued: the user has to log in again ${until}. What the server says of itself: ${why}.`,
        'Issue refresh tokens to clients registered with the grant type refresh_token. If that takes a scope, list offline_access in scopes_supported of the authorization server.',
        { evidence },
      );
    }),
};
