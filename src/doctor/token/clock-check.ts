import { ask } from '../ask.ts';
import type { Check } from '../check.ts';
import { pass, unknown, warn } from '../judgements.ts';
import { consentPatienceMs } from '../login/consent.ts';
import { mcpRequest } from '../requests.ts';
import type { Subject } from '../subject.ts';
import { readClaims } from './claims.ts';
import { tokenAtHand } from './token-at-hand.ts';

/** Allowed clock difference, in seconds. Verifiers allow a few seconds to a minute. */
const toleranceSeconds = 30;

/** A clock as compared with this machine's. */
interface ClockReading {
  whose: string;
  /** Seconds by which it is ahead of this machine's. */
  aheadSeconds: number;
}

/** Reads the clock of the MCP server off its answer to a request without a token. */
async function serverClock(subject: Subject): Promise<ClockReading | undefined> {
  const answer = await ask(subject, subject.url, mcpRequest('ping'));
  if (answer.kind === 'unanswered' || answer.headers.has('age')) return undefined;
  const date = Date.parse(answer.headers.get('date') ?? '');
  return Number.isNaN(date)
    ? undefined
    : { whose: 'the MCP server (Date)', aheadSeconds: Math.floor(date / 1000) - subject.context.now() };
}

/** Reads the clock of the authorization server off a token it has just issued. */
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
 * @param whose the clock's owner
 * @param aheadSeconds seconds by which it is ahead
 */
export function describeSkew(whose: string, aheadSeconds: number): string {
  if (aheadSeconds === 0) return `the clock of ${whose} agrees with yours`;
  return `the clock of ${whose} is ${Math.abs(aheadSeconds)} s ${aheadSeconds > 0 ? 'ahead of' : 'behind'} yours`;
}

/** Tokens are refused if clocks disagree. */
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
