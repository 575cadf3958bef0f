import { type Answer, ask } from '../ask.ts';
import { type Check, fail, type Judgement, pass, unknown, warn } from '../check.ts';
import type { Probe, Subject } from '../subject.ts';
import { type EventStream, firstByteWaitMs } from './event-stream.ts';
import { type McpCaller, mcpHeaders, message, type ProxyOptions } from './mcp-caller.ts';
import { anonymousPost, documentOf, hintsFor, isPage, judgeUnanswered } from './way.ts';

const unseen = (why: string): Judgement => unknown(`No stream could be watched: ${why}.`);

/** See {@link ProxyOptions.idleSeconds}. */
const defaultIdleSeconds = 75;

/** Delay beyond which the first byte of a stream was held back, in milliseconds. */
const heldBackMs = 2_000;

const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(1);

/** Events come as they are sent. */
export function bufferingCheck(stream: Probe<EventStream>): Check {
  return {
    id: 'PROXY-BUFFERING',
    section: 'proxy',
    title: 'Event streams are passed on at once',
    clause: 'MCP Streamable HTTP, Listening for Messages from the Server',
    async judge(subject) {
      const found = await subject.fact(stream);
      if (found.kind === 'none') return unseen(found.why);
      const held = async (saw: string): Promise<Judgement> =>
        fail(
          saw,
          'Turn buffering off for this path. Servers help with X-Accel-Buffering: no and a comment line at once.',
          await hintsFor(subject, 'buffering'),
        );
      if (found.kind === 'held')
        return held(
          `Nothing of the event stream came within ${seconds(found.waitedMs)} s, not even its head: something on the way collects it.`,
        );
      const { firstByteMs } = found;
      if (firstByteMs === undefined)
        return unknown(
          `The head of the stream came after ${seconds(found.headMs)} s and then nothing for ${seconds(firstByteWaitMs)} s: the server may have had nothing to say.`,
        );
      if (firstByteMs > heldBackMs)
        return held(`The first byte of the event stream took ${seconds(firstByteMs)} s.`);
      return pass(`The first byte of the event stream took ${seconds(firstByteMs)} s.`);
    },
  };
}

/** Event streams are not compressed: compressors hold back what is short. */
export function compressionCheck(stream: Probe<EventStream>): Check {
  return {
    id: 'PROXY-COMPRESSION',
    section: 'proxy',
    title: 'Event streams are not compressed',
    clause: 'RFC 9110 section 8.4',
    async judge(subject) {
      const found = await subject.fact(stream);
      if (found.kind === 'none') return unseen(found.why);
      if (found.kind === 'held') return unseen('it does not open');
      const { encoding } = found;
      if (encoding === null || encoding === 'identity') return pass('The stream came as it is.');
      return warn(
        `The event stream came with Content-Encoding: ${encoding.slice(0, 30)}; compressors hold short events back.`,
        'Leave text/event-stream out of compression. Servers help with Cache-Control: no-transform.',
        await hintsFor(subject, 'compression'),
      );
    },
  };
}

/** A stream on which little happens stays open. */
export function idleCheck(stream: Probe<EventStream>, options: ProxyOptions): Check {
  const { idleSeconds = defaultIdleSeconds, onWait } = options;
  return {
    id: 'PROXY-IDLE',
    section: 'proxy',
    title: `A stream stays open for ${idleSeconds} s`,
    clause: 'MCP Streamable HTTP, Listening for Messages from the Server',
    patienceMs: (idleSeconds + 30) * 1000,
    async judge(subject) {
      const found = await subject.fact(stream);
      if (found.kind === 'none') return unseen(found.why);
      if (found.kind === 'held') return unseen('it does not open');
      const { ended, afterMs, silenceMs } = await found.watch(idleSeconds * 1000, onWait);
      if (!ended)
        return pass(
          `The stream stayed open for ${idleSeconds} s; the longest silence was ${seconds(silenceMs)} s.`,
        );
      return fail(
        `The stream was cut ${seconds(afterMs)} s after it began, after ${seconds(silenceMs)} s of silence.`,
        'Raise the timeout of the proxy for this path, or have the server write a comment line more often (every 15 to 25 s).',
        await hintsFor(subject, 'idle_cut'),
      );
    },
  };
}

/** Sizes of tokens that are tried, in bytes: what a token with many groups takes, and what every proxy allows. */
const tokenBytes = [4_000, 8_000] as const;

/** A request no proxy with usual defaults takes for small, in bytes. */
const largeBodyBytes = 1_500_000;

/** Statuses with which a header is refused for its size; 494 is nginx's own. */
const tooLarge = [400, 413, 414, 431, 494, 502];

function isTooLarge(answer: Answer, usual: number): boolean {
  return answer.kind === 'unanswered' || (answer.status !== usual && tooLarge.includes(answer.status));
}

function withToken(subject: Subject, bytes: number): Promise<Answer> {
  return ask(subject, subject.url, {
    method: 'POST',
    headers: { ...mcpHeaders, authorization: `Bearer ${'a'.repeat(bytes)}` },
    body: message('ping'),
  });
}

/** Tokens of a usual size fit through. */
export const headerSizeCheck: Check = {
  id: 'PROXY-HEADER-SIZE',
  section: 'proxy',
  title: 'A token of 8,000 bytes fits through',
  clause: 'RFC 9110 section 5.4',
  async judge(subject) {
    const usual = await subject.fact(anonymousPost);
    if (usual.kind === 'unanswered') return judgeUnanswered(usual);
    for (const bytes of tokenBytes) {
      const answer = await withToken(subject, bytes);
      if (!isTooLarge(answer, usual.status)) continue;
      const how =
        answer.kind === 'answered'
          ? `with status ${answer.status}`
          : `by cutting the connection (${answer.why})`;
      return {
        verdict: bytes === tokenBytes[0] ? 'fail' : 'warn',
        saw: `A token of ${bytes} bytes is refused ${how}.`,
        fix: 'Raise the limit for one header line to 16 KiB or more, or issue smaller tokens.',
        ...(await hintsFor(subject, 'header_size')),
      };
    }
    return pass(`A token of ${tokenBytes[1]} bytes arrived.`);
  },
};

/**
 * Requests of a usual size fit through. With a login it is the server that reads them to the end; without one it may
 * refuse before, and who cuts the line then cannot be told.
 * @param caller the probe that speaks MCP
 */
export function bodySizeCheck(caller: Probe<McpCaller>): Check {
  return {
    id: 'PROXY-BODY-SIZE',
    section: 'proxy',
    title: 'A request of 1.5 MB fits through',
    clause: 'RFC 9110 section 15.5.14',
    async judge(subject) {
      const found = await subject.fact(caller);
      const headers = found.kind === 'speaks' ? found.headers : mcpHeaders;
      const answer = await ask(subject, subject.url, {
        method: 'POST',
        headers,
        body: message('ping', { padding: 'a'.repeat(largeBodyBytes) }),
      });
      if (answer.kind === 'unanswered') return judgeUnanswered(answer);
      const { status } = answer;
      if (status >= 500)
        return warn(
          `A request of 1.5 MB is answered with status ${status}.`,
          'Raise the limit of the proxy, and let it write to the folder in which it keeps large requests. Where the server refuses before it has read all, keep lines to it open (nginx: proxy_http_version 1.1; proxy_set_header Connection "";).',
          await hintsFor(subject, 'body_size'),
        );
      if (status !== 413) return pass(`A request of 1.5 MB was answered with status ${status}.`);
      const isServer = !isPage(answer) && documentOf({ ...answer, status: 200 }) !== undefined;
      if (isServer) return pass('The server itself refuses a request of 1.5 MB: that is its own limit.');
      return warn(
        'A request of 1.5 MB is refused on the way (413): tools that take files or long texts fail.',
        'Raise the limit to that of the server (Gatehouse: 4 MB).',
        await hintsFor(subject, 'body_size'),
      );
    },
  };
}
