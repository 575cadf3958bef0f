import { expect } from 'vitest';
import { type Feature, inLegacy, inModern } from './support/feature.ts';
import { type CallOptions, type Peer, textOf } from './support/peer.ts';

const recalled = async (peer: Peer, label: string): Promise<string> =>
  textOf(await peer.call('recall', { label }));
/** How often it is looked, and how long, in milliseconds. */
const soon = { interval: 5, timeout: 5000 };
const logLevel = 'io.modelcontextprotocol/logLevel';

/** Levels of the log messages heard while something is done. */
async function levelsDuring(peer: Peer, act: () => Promise<unknown>): Promise<unknown[]> {
  const before = peer.heard.length;
  await act();
  return peer.heard
    .slice(before)
    .filter(({ method }) => method === 'notifications/message')
    .map(({ params }) => params?.level);
}

/** Calls the tool that steps, and tells it when its last step was heard. */
async function stepsOf(peer: Peer, label: string, options: CallOptions): Promise<string> {
  const onprogress: CallOptions['onprogress'] = (progress) => {
    options.onprogress?.(progress);
    if (progress.progress === progress.total) void peer.call('tell', { label, what: 'heard' });
  };
  return textOf(await peer.call('steps', { label }, { ...options, onprogress }));
}

let calls = 0;
const newLabel = (): string => `call ${++calls} of ${process.pid}`;

/** What happens while a call runs: progress, cancellation, time limits and logs. */
export const courseFeatures: readonly Feature[] = [
  {
    rule: 'progress of a call grows, and reaches the one who asked for it (C6-03)',
    async prove({ peer }) {
      const [label, steps] = [newLabel(), [] as unknown[]];
      expect(await stepsOf(peer, label, { onprogress: (progress) => void steps.push(progress) })).toBe(
        'stepped',
      );
      expect(steps).toMatchObject(
        [1, 2.5, 4].map((progress) => ({ progress, total: 4, message: `step ${progress}` })),
      );
    },
  },
  {
    rule: 'progress ends with the answer (C6-03)',
    async prove({ peer }) {
      const [label, steps] = [newLabel(), [] as unknown[]];
      await peer.call('late', { label }, { onprogress: (progress) => void steps.push(progress) });
      const before = peer.complaints.length;
      await expect.poll(() => recalled(peer, label), soon).toBe('reported late');
      expect([steps, peer.complaints.slice(before)]).toEqual([[], []]);
    },
  },
  {
    rule: 'a call that is cancelled stops at the server (C6-01)',
    async prove({ peer }) {
      const [label, leaving] = [newLabel(), new AbortController()];
      const answer = peer.call('wait', { label }, { signal: leaving.signal });
      const gone = expect(answer).rejects.toThrow();
      await expect.poll(() => recalled(peer, label), soon).toBe('waits');
      leaving.abort('enough');
      await gone;
      await expect.poll(() => recalled(peer, label), soon).toBe('cancelled');
    },
  },
  {
    rule: 'a call that takes too long is cancelled by its client, and progress gives it time (C2-06)',
    async prove({ peer }) {
      const label = newLabel();
      await expect(peer.call('wait', { label }, { timeout: 400 })).rejects.toThrow();
      await expect.poll(() => recalled(peer, label), soon).toBe('cancelled');
      const patience = { timeout: 3000, resetTimeoutOnProgress: true, maxTotalTimeout: 9000 };
      expect(await stepsOf(peer, newLabel(), patience)).toBe('stepped');
    },
  },
  {
    rule: 'a question that takes too long is taken back by the server (C2-06)',
    where: inLegacy,
    async prove({ peer }) {
      peer.person.answers(
        'sampling/createMessage',
        ({ signal }) =>
          new Promise((resolve) => signal.addEventListener('abort', () => resolve({ role: 'assistant' }))),
      );
      expect(textOf(await peer.call('impatient'))).toMatch(/timed out/i);
      await expect.poll(() => peer.person.asked.at(-1)?.signal.aborted, soon).toBe(true);
    },
  },
  {
    rule: 'logs come from the level the client sets, and no other level than the eight exists (C6-04)',
    where: inLegacy,
    async prove({ peer }) {
      await peer.ask('logging/setLevel', { level: 'warning' });
      expect(await levelsDuring(peer, () => peer.call('log'))).toEqual(['warning', 'emergency']);
      await expect(peer.ask('logging/setLevel', { level: 'loud' })).rejects.toMatchObject({ code: -32602 });
      await peer.ask('logging/setLevel', { level: 'debug' });
      expect(await levelsDuring(peer, () => peer.call('log'))).toEqual([
        'debug',
        'info',
        'warning',
        'emergency',
      ]);
    },
  },
  {
    rule: 'logs are asked for by each request, and one that does not hears none of them (C3-02, C3-07, C6-04)',
    where: inModern,
    async prove({ peer }) {
      const logged = await levelsDuring(peer, () => peer.call('log', {}, {}, { [logLevel]: 'warning' }));
      expect(logged).toEqual(['warning', 'emergency']);
      expect(await levelsDuring(peer, () => peer.call('log'))).toEqual([]);
    },
  },
];
