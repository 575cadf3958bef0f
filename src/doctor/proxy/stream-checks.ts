import type { Check } from '../check.ts';
import type { Judgement } from '../finding.ts';
import { fail, pass, unknown, warn } from '../judgements.ts';
import type { Probe } from '../subject.ts';
import { type EventStream, firstByteWaitMs } from './event-stream.ts';
import type { ProxyOptions } from './proxy-options.ts';
import { hintsFor } from './way.ts';

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
