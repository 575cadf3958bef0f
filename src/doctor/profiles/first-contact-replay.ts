import { quote } from '../../client/quote.ts';
import { isLocalAddress } from '../../client/url-policy.ts';
import type { ClientProfile } from '../../oauth/client-profiles/client-profile.ts';
import { ask } from '../ask.ts';
import { describeAnswer } from '../describe-answer.ts';
import { anonymousInitialize, firstRefusal, isSuccess } from '../reach/anonymous.ts';
import { initializeRequest } from '../requests.ts';
import type { Subject } from '../subject.ts';
import type { ReplayStep } from './replay-step.ts';

/** Returns true if the URL is one that the client can call at all. */
export function replayAddress(profile: ClientProfile, url: string): ReplayStep {
  const name = 'address';
  const parsed = URL.parse(url);
  if (parsed === null) return { name, kind: 'unknown', saw: `${quote(url)} is no URL.` };
  if (profile.runsOn !== 'cloud') return { name, kind: 'goes_on', saw: parsed.origin };
  const stop = (saw: string): ReplayStep => ({
    name,
    kind: 'stops',
    saw,
    clause: 'MCP authorization, Communication Security',
    fix: 'Publish the server under https on port 443 of a public name.',
  });
  if (isLocalAddress(parsed.hostname) || !parsed.hostname.includes('.'))
    return {
      name,
      kind: 'out_of_reach',
      saw: `${profile.title} calls from a data centre, where ${parsed.hostname} leads nowhere. It needs a public name, https and port 443.`,
    };
  if (parsed.protocol !== 'https:') return stop(`${profile.title} calls https only.`);
  if (parsed.port !== '') return stop(`${profile.title} calls port 443 only, not ${parsed.port}.`);
  return { name, kind: 'goes_on', saw: parsed.origin };
}

/** Returns true if the first refusal is one the client understands. */
export async function replayChallenge(profile: ClientProfile, subject: Subject): Promise<ReplayStep> {
  const name = 'challenge';
  const { userAgent } = profile;
  const answer =
    userAgent === undefined
      ? await subject.fact(anonymousInitialize)
      : await ask(subject, subject.url, initializeRequest({ 'user-agent': userAgent }));
  const { evidence } = answer;
  if (answer.kind === 'unanswered')
    return { name, kind: 'unknown', saw: `No answer: ${answer.why}.`, evidence };
  const location = URL.parse(answer.headers.get('location') ?? '', answer.url);
  if (answer.status >= 300 && answer.status < 400 && location !== null) {
    const keeps = [307, 308].includes(answer.status) && location.origin === new URL(subject.url).origin;
    if (keeps)
      return { name, kind: 'goes_on', saw: `${answer.status} is followed to ${quote(location.href)}.` };
    return {
      name,
      kind: 'stops',
      saw: `${describeAnswer(answer)}: on the way there the token or the request is lost.`,
      clause: 'RFC 9110 section 15.4',
      fix: 'Serve the server at this URL, or give clients the one it leads to.',
      evidence,
    };
  }
  if (answer.status === 401)
    return { name, kind: 'goes_on', saw: 'It is asked for a login (401).', evidence };
  if (isSuccess(answer)) {
    const refusal = await subject.fact(firstRefusal);
    if (refusal !== undefined)
      return { name, kind: 'goes_on', saw: 'It is asked for a login at its first call.' };
    return { name, kind: 'inside', saw: 'The server asks for no login.', evidence };
  }
  const other = userAgent === undefined ? undefined : await subject.fact(anonymousInitialize);
  const isSingled = other?.kind === 'answered' && other.status === 401;
  return {
    name,
    kind: 'stops',
    saw: `${isSingled ? `To ${quote(userAgent)} the answer is` : 'The answer is'} ${describeAnswer(answer)}, not 401.`,
    clause: 'MCP authorization, Error Handling',
    fix: isSingled
      ? 'Take the rule off that blocks this user agent (bot rules, "Block AI bots", a WAF).'
      : 'Answer requests without a token with 401 and WWW-Authenticate.',
    evidence,
  };
}
