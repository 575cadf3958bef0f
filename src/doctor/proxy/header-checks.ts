import { parseChallenges } from '../../oauth/challenge.ts';
import { type Answer, type Answered, ask } from '../ask.ts';
import { type Check, fail, type Judgement, pass, unknown, warn } from '../check.ts';
import type { Probe, Subject } from '../subject.ts';
import type { EventStream } from './event-stream.ts';
import { type McpCaller, message } from './mcp-caller.ts';
import {
  anonymousGet,
  anonymousPost,
  documentOf,
  hintsFor,
  judgeUnanswered,
  metadataAnswers,
  strangerGet,
  strangerPost,
} from './way.ts';

const statusOf = (answer: Answer): number => (answer.kind === 'answered' ? answer.status : 0);

/** The `error` of a bearer challenge. */
function challengedError(answer: Answer): string | undefined {
  if (answer.kind === 'unanswered') return undefined;
  return parseChallenges(answer.headers.get('www-authenticate') ?? '').find(
    ({ parameters }) => parameters.error !== undefined,
  )?.parameters.error;
}

async function lost(
  subject: Subject,
  header: string,
  way: 'request' | 'response',
  saw: string,
): Promise<Judgement> {
  return fail(
    saw,
    `Let ${header} through in ${way === 'request' ? 'requests' : 'answers'}.`,
    await hintsFor(subject, way === 'request' ? 'request_header_stripped' : 'response_header_stripped', {
      header,
    }),
  );
}

const silent = (header: string, { why }: { why: string }): Judgement =>
  unknown(`Whether ${header} arrives cannot be seen: ${why}.`);

/** `Authorization` reaches the server. */
export function authorizationCheck(caller: Probe<McpCaller>): Check {
  return {
    id: 'PROXY-AUTHORIZATION',
    section: 'proxy',
    title: 'Authorization reaches the server',
    clause: 'RFC 6750 section 2.1',
    async judge(subject) {
      const [anonymous, stranger] = [await subject.fact(anonymousPost), await subject.fact(strangerPost)];
      if (stranger.kind === 'unanswered') return judgeUnanswered(stranger);
      const found = await subject.fact(caller);
      if (found.kind === 'speaks' && 'authorization' in found.headers)
        return pass('A token opened the server.');
      const said = challengedError(stranger);
      if (said !== undefined && challengedError(anonymous) === undefined)
        return pass(`A token nobody issued was refused with ${said}, so it arrived.`);
      if (statusOf(anonymous) !== 401)
        return unknown('The server asks for no token, so nothing shows whether one arrives.');
      if (statusOf(stranger) !== 401)
        return pass(
          `A token nobody issued is answered otherwise (${statusOf(stranger)}) than none (401), so it arrived.`,
        );
      if (found.kind === 'silent' && found.withToken && found.status === 401)
        return lost(subject, 'Authorization', 'request', 'A good token is answered as if there were none.');
      return {
        ...(await lost(
          subject,
          'Authorization',
          'request',
          'A token nobody issued is answered as if there were none, without error="invalid_token": either Authorization is lost on the way, or the server does not say.',
        )),
        verdict: 'warn',
      };
    },
  };
}

/** `WWW-Authenticate` comes back. */
export const challengeHeaderCheck: Check = {
  id: 'PROXY-WWW-AUTHENTICATE',
  section: 'proxy',
  title: 'WWW-Authenticate comes back with 401',
  clause: 'RFC 9110 section 15.5.2',
  async judge(subject) {
    const answer = await subject.fact(anonymousPost);
    if (answer.kind === 'unanswered') return judgeUnanswered(answer);
    if (answer.status !== 401)
      return unknown(`Without a token the answer has status ${answer.status}, not 401.`);
    if (answer.headers.has('www-authenticate')) return pass('It came with the 401.');
    const published = (await subject.fact(metadataAnswers)).some(
      (one) => documentOf(one)?.resource !== undefined,
    );
    return lost(
      subject,
      'WWW-Authenticate',
      'response',
      `The 401 came without it${published ? ', although the server publishes what it would point to' : ''}: it is lost on the way, or the server does not send it.`,
    );
  },
};

/** `Accept` reaches the server as the client sent it. */
export function acceptCheck(caller: Probe<McpCaller>): Check {
  return {
    id: 'PROXY-ACCEPT',
    section: 'proxy',
    title: 'Accept reaches the server',
    clause: 'MCP Streamable HTTP, Sending Messages to the Server',
    async judge(subject) {
      const found = await subject.fact(caller);
      if (found.kind === 'speaks') return pass('A request that accepts JSON and event streams was served.');
      const refused = found.status === 406 || statusOf(await subject.fact(anonymousPost)) === 406;
      if (!refused) return silent('Accept', found);
      return lost(
        subject,
        'Accept',
        'request',
        'A request that accepts JSON and event streams was refused with 406: Accept does not arrive as it was sent.',
      );
    },
  };
}

function post(subject: Subject, headers: Record<string, string>): Promise<Answer> {
  return ask(subject, subject.url, { method: 'POST', headers, body: message('ping') });
}

/** `Mcp-Session-Id` goes through both ways. */
export function sessionIdCheck(caller: Probe<McpCaller>): Check {
  return {
    id: 'PROXY-SESSION-ID',
    section: 'proxy',
    title: 'Mcp-Session-Id goes through both ways',
    clause: 'MCP Streamable HTTP, Session Management',
    async judge(subject) {
      const header = 'Mcp-Session-Id';
      const found = await subject.fact(caller);
      if (found.kind === 'silent') return silent(header, found);
      const status = statusOf(await post(subject, found.headers));
      if (found.sessionId === undefined) {
        if (status >= 200 && status < 300) return pass('The server works without sessions.');
        return lost(
          subject,
          header,
          'response',
          `initialize brought no ${header}, but the next request was refused without one (status ${status}).`,
        );
      }
      if (status < 200 || status >= 300)
        return lost(
          subject,
          header,
          'request',
          `The server opened a session, but the next request in it was refused (status ${status}).`,
        );
      const strange = statusOf(
        await post(subject, { ...found.headers, 'mcp-session-id': 'gatehouse-doctor-none' }),
      );
      if (strange >= 400) return pass(`A session is known, another is refused (${strange}).`);
      return unknown(
        `A session that does not exist was served (status ${strange}): ${header} is lost on the way, or the server does not look at it.`,
      );
    },
  };
}

/** `MCP-Protocol-Version` reaches the server. */
export function protocolVersionCheck(caller: Probe<McpCaller>): Check {
  return {
    id: 'PROXY-PROTOCOL-VERSION',
    section: 'proxy',
    title: 'MCP-Protocol-Version reaches the server',
    clause: 'MCP Streamable HTTP, Protocol Version Header',
    async judge(subject) {
      const header = 'MCP-Protocol-Version';
      const found = await subject.fact(caller);
      if (found.kind === 'silent') return silent(header, found);
      const status = statusOf(
        await post(subject, { ...found.headers, 'mcp-protocol-version': '1900-01-01' }),
      );
      if (status === 400) return pass('A revision that does not exist is refused, so it arrived.');
      return {
        ...(await lost(
          subject,
          header,
          'request',
          `A revision that does not exist was answered with status ${status}, not 400: ${header} is lost on the way, or the server does not look at it.`,
        )),
        verdict: 'warn',
      };
    },
  };
}

/** `Last-Event-ID` reaches the server. */
export function lastEventIdCheck(caller: Probe<McpCaller>, stream: Probe<EventStream>): Check {
  return {
    id: 'PROXY-LAST-EVENT-ID',
    section: 'proxy',
    title: 'Last-Event-ID reaches the server',
    clause: 'MCP Streamable HTTP, Resumability and Redelivery',
    async judge(subject) {
      const header = 'Last-Event-ID';
      const found = await subject.fact(caller);
      if (found.kind === 'silent') return silent(header, found);
      const opened = await subject.fact(stream);
      if (opened.kind !== 'open')
        return silent(header, { why: opened.kind === 'held' ? 'the stream does not open' : opened.why });
      const { 'content-type': _none, ...headers } = found.headers as Record<string, string>;
      const open = async (more: Record<string, string>): Promise<number> =>
        statusOf(
          await ask(subject, subject.url, {
            headers: { ...headers, accept: 'text/event-stream', ...more },
            signal: AbortSignal.timeout(3_000),
          }),
        );
      const status = await open({ 'last-event-id': 'gatehouse-doctor-none' });
      if (status >= 400 && status !== (await open({})))
        return pass(`An event that does not exist is refused (${status}), so it arrived.`);
      return unknown(
        `An event that does not exist was answered with status ${status}, as if none were named: ${header} is lost on the way, or the server keeps no events.`,
      );
    },
  };
}

/** Headers that show that a response came from a cache. */
function cacheMark({ headers }: Answered): string | undefined {
  const age = headers.get('age');
  if (age !== null && Number(age) > 0) return `Age: ${age}`;
  for (const name of ['x-cache', 'cf-cache-status', 'x-proxy-cache', 'x-cache-status', 'cache-status']) {
    const value = headers.get(name);
    if (value !== null && /\bhit\b/i.test(value)) return `${name}: ${value.slice(0, 60)}`;
  }
  return undefined;
}

const errorOf = (answer: Answer): string | undefined =>
  answer.kind === 'answered'
    ? parseChallenges(answer.headers.get('www-authenticate') ?? '').find(({ parameters }) => parameters.error)
        ?.parameters.error
    : undefined;

/** Answers of the server are not kept and given to others. */
export const cachingCheck: Check = {
  id: 'PROXY-CACHING',
  section: 'proxy',
  title: 'No cache answers instead of the server',
  clause: 'RFC 9111 section 3.5',
  async judge(subject) {
    const [anonymous, stranger] = [await subject.fact(anonymousGet), await subject.fact(strangerGet)];
    for (const answer of [anonymous, stranger]) {
      const mark = answer.kind === 'answered' ? cacheMark(answer) : undefined;
      if (mark === undefined || answer.kind === 'unanswered') continue;
      return fail(
        `The answer to GET ${subject.url} (status ${answer.status}) came from a cache (${mark}): a 401 then stays after the login.`,
        'Keep caches away from this path.',
        await hintsFor(subject, 'caching'),
      );
    }
    const toPost = errorOf(await subject.fact(strangerPost));
    if (
      toPost !== undefined &&
      errorOf(stranger) === undefined &&
      stranger.kind === 'answered' &&
      stranger.status === 401
    )
      return fail(
        `POST with a token nobody issued is refused with ${toPost}; GET with the same token gets the answer that one without a token got before: a cache gave it.`,
        'Keep caches away from this path; a 401 then stays after the login.',
        await hintsFor(subject, 'caching'),
      );
    const kept = (await subject.fact(metadataAnswers)).find(
      (answer): answer is Answered =>
        answer.kind === 'answered' &&
        documentOf(answer) !== undefined &&
        cacheMark(answer) !== undefined &&
        !answer.headers.has('cache-control'),
    );
    if (kept !== undefined)
      return warn(
        `${kept.url} came from a cache (${cacheMark(kept)}) without Cache-Control: changes show late, at a time nobody knows.`,
        'Have the server say how long (Cache-Control: max-age=300), or keep the cache away.',
        await hintsFor(subject, 'caching'),
      );
    if (anonymous.kind === 'unanswered') return unknown(`GET gave no answer: ${anonymous.why}.`);
    return pass('Nothing shows that a cache answered.');
  },
};
