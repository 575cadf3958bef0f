import { quote } from '../../client/quote.ts';
import type { Check } from '../check.ts';
import { quoteOrMissing } from '../document.ts';
import type { Judgement } from '../finding.ts';
import { fail, pass, skip, warn } from '../judgements.ts';
import { consentPatienceMs } from '../login/consent.ts';
import type { Subject } from '../subject.ts';
import { type Claims, claimFaults, compareAudience, readClaims } from './claims.ts';
import { type TokenAtHand, tokenAtHand } from './token-at-hand.ts';

/** Judges the token at hand if it can be read. */
async function judgeClaims(
  subject: Subject,
  judge: (claims: Claims, token: Extract<TokenAtHand, { kind: 'held' }>) => Judgement,
): Promise<Judgement> {
  const token = await tokenAtHand(subject);
  if (token.kind === 'missing') return token.judgement;
  const claims = readClaims(token.accessToken);
  return claims === undefined
    ? skip('The access token is opaque: only the server can read it.')
    : judge(claims, token);
}

/** Claims of a token. */
export const claimsCheck: Check = {
  id: 'TOKEN-CLAIMS',
  section: 'token',
  title: 'The claims of the access token hold: issuer, algorithm and times',
  clause: 'RFC 9068 sections 2.1, 2.2 and 4',
  patienceMs: consentPatienceMs,
  judge: (subject) =>
    judgeClaims(subject, (claims, { issuer }) => {
      const now = subject.context.now();
      const { header, payload } = claims;
      const faults = claimFaults(claims, { issuer, now });
      if (faults.length > 0)
        return fail(
          `In the access token ${faults.join(', and ')}.`,
          'Sign access tokens with an asymmetric key, with the issuer of the metadata as iss, byte for byte, and with exp.',
        );
      const shown = ['client_id', 'scope', 'sub'].filter((name) => payload[name] !== undefined);
      return pass(
        `typ ${quoteOrMissing(header.typ)}, alg ${quote(header.alg)}, iss ${quote(payload.iss)}, ends in ${(payload.exp ?? now) - now} seconds; it also has ${shown.join(', ') || 'none of client_id, scope and sub'}.`,
      );
    }),
};

/** A token is for one resource. */
export const audienceCheck: Check = {
  id: 'TOKEN-AUDIENCE',
  section: 'token',
  title: 'The audience of the access token is the MCP server',
  clause: 'RFC 9068 section 3; RFC 8707 section 2.2; MCP authorization "Token Handling"',
  patienceMs: consentPatienceMs,
  judge: (subject) =>
    judgeClaims(subject, ({ payload: { aud } }, { resource }) => {
      const fix = `Issue tokens asked for with resource=${resource} with exactly that as aud. A server that has to accept another audience accepts tokens meant for others.`;
      const saw = `aud is ${quoteOrMissing(aud)}, and the token was asked for with the resource ${quote(resource)}`;
      switch (compareAudience(aud, resource)) {
        case 'same':
          return pass(`${saw}.`);
        case 'alike':
          return warn(`${saw}: only the spelling differs, and verifiers compare strings.`, fix);
        case 'other':
          return fail(`${saw}.`, fix);
      }
    }),
};
