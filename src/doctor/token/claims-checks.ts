import { decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose';
import { quote } from '../../client/quote.ts';
import { canonicalResource } from '../../oauth/resource-indicator.ts';
import { ask } from '../ask.ts';
import { type Check, fail, type Judgement, pass, skip, unknown, warn } from '../check.ts';
import { quoteOrMissing } from '../document.ts';
import { consentPatienceMs } from '../login/consent.ts';
import { mcpRequest } from '../requests.ts';
import type { Subject } from '../subject.ts';
import { type TokenAtHand, tokenAtHand } from './token-at-hand.ts';

/** Judges the token if it can be read. */
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

/** Checks the claims of a token. */
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

/** Checks that a token is for one resource. */
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

/** Claims of an access token. They are not verified: only the server can judge its token. */
interface Claims {
  header: { alg?: string; typ?: string };
  payload: JWTPayload & { client_id?: unknown; scope?: unknown };
}

/** Reads the claims of an access token; undefined for an opaque one. */
export function readClaims(accessToken: string): Claims | undefined {
  try {
    const { alg, typ } = decodeProtectedHeader(accessToken);
    return {
      header: { ...(alg === undefined ? {} : { alg }), ...(typ === undefined ? {} : { typ }) },
      payload: decodeJwt(accessToken),
    };
  } catch {
    return undefined;
  }
}

/**
 * Returns true if an audience names a resource.
 * @param aud the claim
 * @param resource the requested resource indicator
 * @returns `alike` if only the spelling differs: case of the host, default port, trailing slash
 * @see RFC 9068 section 4; RFC 8707 section 2.2
 */
export function compareAudience(aud: JWTPayload['aud'], resource: string): 'same' | 'alike' | 'other' {
  const audiences = aud === undefined ? [] : [aud].flat();
  if (audiences.includes(resource)) return 'same';
  const wanted = canonicalResource(resource);
  return audiences.some((one) => canonicalResource(one) === wanted) ? 'alike' : 'other';
}

/**
 * Returns the faults of the claims of a new token, each as the rest of a sentence that begins with "in the token".
 * @param expected the issuer, and the time in epoch seconds
 * @see RFC 9068 sections 2.1, 2.2 and 4; RFC 7519 section 4.1
 */
export function claimFaults(
  { header, payload }: Claims,
  { issuer, now }: { issuer: string; now: number },
): string[] {
  const { iss, exp, nbf } = payload;
  const faults: string[] = [];
  if (header.alg === undefined || header.alg === 'none')
    faults.push('alg is "none": anybody can write such a token');
  if (iss !== issuer) faults.push(`iss is ${quoteOrMissing(iss)} and the issuer ${quote(issuer)}`);
  if (exp === undefined) faults.push('exp is missing: it never ends');
  else if (exp <= now) faults.push(`exp is ${now - exp} seconds ago`);
  if (nbf !== undefined && nbf > now + 60) faults.push(`nbf is ${nbf - now} seconds ahead`);
  return faults;
}

/** Allowed clock difference, in seconds. Verifiers allow a few seconds to a minute. */
const toleranceSeconds = 30;

/** A clock compared with that of this machine. */
interface ClockReading {
  whose: string;
  /** Seconds by which it is ahead of this machine's. */
  aheadSeconds: number;
}

/** Reads the clock of the MCP server from its response to a request without a token. */
async function serverClock(subject: Subject): Promise<ClockReading | undefined> {
  const answer = await ask(subject, subject.url, mcpRequest('ping'));
  if (answer.kind === 'unanswered' || answer.headers.has('age')) return undefined;
  const date = Date.parse(answer.headers.get('date') ?? '');
  return Number.isNaN(date)
    ? undefined
    : { whose: 'the MCP server (Date)', aheadSeconds: Math.floor(date / 1000) - subject.context.now() };
}

/** Reads the clock of the authorization server from a new token. */
async function issuerClock(subject: Subject): Promise<ClockReading | undefined> {
  const token = await tokenAtHand(subject);
  if (token.kind === 'missing' || token.receivedAt === undefined) return undefined;
  const claims = readClaims(token.accessToken);
  const { iat, nbf } = claims?.payload ?? {};
  const stamped = Math.max(iat ?? Number.NEGATIVE_INFINITY, nbf ?? Number.NEGATIVE_INFINITY);
  return Number.isFinite(stamped)
    ? { whose: 'the authorization server (iat, nbf)', aheadSeconds: stamped - token.receivedAt }
    : undefined;
}

/**
 * Describes a clock difference in a sentence.
 * @param whose owner of the clock
 * @param aheadSeconds seconds by which it is ahead
 */
export function describeSkew(whose: string, aheadSeconds: number): string {
  if (aheadSeconds === 0) return `the clock of ${whose} agrees with yours`;
  return `the clock of ${whose} is ${Math.abs(aheadSeconds)} s ${aheadSeconds > 0 ? 'ahead of' : 'behind'} yours`;
}

/** Checks the clocks: tokens are rejected if they differ. */
export const clockCheck: Check = {
  id: 'TOKEN-CLOCK',
  section: 'token',
  title: 'The clocks of both servers and of this machine agree',
  clause: 'RFC 7519 sections 4.1.4 to 4.1.6; RFC 9110 section 6.6.1',
  needs: ['REACH-ANSWER'],
  patienceMs: consentPatienceMs,
  async judge(subject) {
    const readings = [await serverClock(subject), await issuerClock(subject)].filter(
      (one) => one !== undefined,
    );
    if (readings.length === 0) return unknown('Neither server shows its clock: no Date, no iat.');
    const sentence = readings.map(({ whose, aheadSeconds }) => describeSkew(whose, aheadSeconds)).join(', ');
    const saw = `${sentence[0]?.toUpperCase()}${sentence.slice(1)}.`;
    const off = readings.filter(({ aheadSeconds }) => Math.abs(aheadSeconds) > toleranceSeconds);
    if (off.length === 0) return pass(saw);
    const [first] = off;
    const isOurs =
      off.length === readings.length &&
      readings.length > 1 &&
      off.every(
        ({ aheadSeconds }) => Math.abs(aheadSeconds - (first?.aheadSeconds ?? 0)) <= toleranceSeconds,
      );
    const ahead = first?.aheadSeconds ?? 0;
    return warn(
      isOurs ? `${saw} Your clock is ${Math.abs(ahead)} s ${ahead > 0 ? 'slow' : 'fast'}.` : saw,
      isOurs
        ? 'Set the clock of this machine by NTP: it takes good tokens for ended ones, or ended ones for good.'
        : `Set the clock of ${off.map(({ whose }) => whose.replace(/ \(.*/, '')).join(' and of ')} by NTP: tokens are refused as ended, or as not valid yet.`,
    );
  },
};
