import { expect, test } from 'vitest';
import { createEventLog } from '../../../src/mcp/legacy/event-log.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import type { StoredEvent } from '../../../src/storage/mcp-sessions.ts';

const retention = { maxEvents: 10, maxBytes: 1000 };
const event = (position: number): StoredEvent => ({ stream: 's', position, data: '{}' });

function createLog(append: (events: readonly StoredEvent[]) => Promise<unknown>, isRemote = false) {
  const lines: string[] = [];
  const log = createEventLog('k', {
    store: {
      isRemote,
      openStream: async () => true,
      append: (_key, events) => append(events).then((isOurs) => isOurs !== false),
      closeStream: async () => undefined,
      resume: async (_key, stream) => ({ stream, owed: [], events: [] }),
    },
    retention,
    seal: { seal: (text) => text, open: (sealed) => sealed },
    now: () => 1,
    logger: createLogger('warn', (line) => lines.push(line)),
  });
  return { log, lines };
}

test('events that come together share a write, and keep their order', async () => {
  const writes: number[][] = [];
  const { log } = createLog(async (events) => {
    await new Promise((resolve) => setImmediate(resolve));
    writes.push(events.map(({ position }) => position));
  });
  log.open({ stream: 's', owed: [] });
  for (let position = 1; position <= 5; position++) log.append(event(position));
  await new Promise((resolve) => setImmediate(resolve));
  log.append(event(6));
  log.append(event(7));
  await log.resume('s', 0);
  expect(writes.flat()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(writes.length).toBeLessThan(5);
});

test('an event that cannot be kept is logged, and the next ones still are kept (T-199)', async () => {
  let fails = true;
  const kept: number[] = [];
  const { log, lines } = createLog(async (events) => {
    if (fails) throw new Error('disk full');
    kept.push(...events.map(({ position }) => position));
  });
  log.append(event(1));
  await log.resume('s', 0);
  fails = false;
  log.append(event(2));
  await log.resume('s', 0);
  expect(kept).toEqual([2]);
  expect(lines.join()).toContain('disk full');
});

test('no event overtakes the opening of its stream: what it answers would stay owed', async () => {
  const writes: string[] = [];
  const log = createEventLog('k', {
    store: {
      isRemote: false,
      openStream: async (_key, { stream }) => writes.push(`open ${stream}`) > 0,
      append: async (_key, events) => writes.push(events.map(({ stream }) => stream).join(' ')) > 0,
      closeStream: async (_key, stream) => void writes.push(`close ${stream}`),
      resume: async () => undefined,
    },
    retention,
    seal: { seal: (text) => text, open: (sealed) => sealed },
    now: () => 1,
    logger: createLogger('silent'),
  });
  const say = (stream: string): unknown => log.append({ stream, position: 1, data: '{}', answers: '1' });
  void log.open({ stream: 'a', owed: ['1'] });
  say('a');
  void log.open({ stream: 'b', owed: ['1'] });
  say('b');
  say('a');
  log.close('a');
  say('b');
  await log.resume('b', 0);
  expect(writes).toEqual(['open a', 'a', 'open b', 'b a', 'close a', 'b']);
});

test('the outcome of a write to a remote database is known of each event; a local one is not waited for', async () => {
  const outcomes = [true, new Error('away'), false];
  const write = async (): Promise<boolean> => {
    const next = outcomes.shift();
    if (next instanceof Error) throw next;
    return next !== false;
  };
  const { log } = createLog(write, true);
  for (const [position, outcome] of ['stored', 'failed', 'refused'].entries()) {
    expect(await log.append(event(position + 1)).written).toBe(outcome);
  }
  expect(createLog(write).log.append(event(1))).toEqual({ isKept: true });
});
