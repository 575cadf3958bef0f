import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LinkWatch } from '../../../src/mcp/upstreams/link-prompts.ts';
import { inputOfLink, type MissingLink } from '../../../src/mcp/upstreams/upstream.ts';
import { createLogger } from '../../../src/observability/logger.ts';

const log: string[] = [];
const told: string[] = [];
let watch: LinkWatch;
beforeEach(() => {
  log.length = 0;
  told.length = 0;
  watch = new LinkWatch(
    (id) => told.push(id),
    createLogger('warn', (line) => log.push(line)),
    10,
  );
});
afterEach(() => watch.endAll());

const missing = (upstream: string, scopes: string[] = []): MissingLink => ({
  missing: 'link',
  upstream,
  label: upstream,
  url: 'https://gate.example/',
  accountId: 'ann',
  scopes,
});

/** An access that knows what was given. */
function accessOf(given: Set<string>, onLook = (): void => undefined) {
  return {
    call: () => Promise.reject(new Error('not called')),
    async isGiven({ upstream }: MissingLink) {
      onLook();
      return given.has(upstream);
    },
  };
}

test('one that is given is told once, the others wait on; what is missing twice is one elicitation', async () => {
  const given = new Set<string>();
  const access = accessOf(given);
  const work = watch.begin(inputOfLink(missing('work'), access));
  expect(watch.begin(inputOfLink(missing('work'), access))).toBe(work);
  expect(watch.begin(inputOfLink(missing('work', ['more']), access))).not.toBe(work);
  watch.begin(inputOfLink(missing('home'), access));
  given.add('home');
  await vi.waitFor(() => expect(told).toHaveLength(1));
  given.add('work');
  await vi.waitFor(() => expect(told).toHaveLength(3));
  expect(told).toContain(work);
  expect(watch.begin(inputOfLink(missing('work'), access))).not.toBe(work);
});

test('a conversation that has ended looks no more, and is told nothing', async () => {
  const given = new Set<string>();
  let looks = 0;
  const access = accessOf(given, () => looks++);
  watch.begin(inputOfLink(missing('work'), access));
  await vi.waitFor(() => expect(looks).toBeGreaterThan(0));
  watch.endAll();
  given.add('work');
  const before = looks;
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect([looks - before, told]).toEqual([0, []]);
});

test('what is found while the conversation ends is not told', async () => {
  let answer: (isGiven: boolean) => void = () => undefined;
  const looking = new Promise<void>((begun) => {
    const isGiven = (): Promise<boolean> => {
      begun();
      return new Promise((resolve) => {
        answer = resolve;
      });
    };
    watch.begin(inputOfLink(missing('work'), { isGiven }));
  });
  await looking;
  watch.endAll();
  answer(true);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(told).toEqual([]);
});

test('no more than twenty are waited for: the oldest is let go', async () => {
  const given = new Set<string>();
  const ids = Array.from({ length: 21 }, (_, at) =>
    watch.begin(inputOfLink(missing(`up-${at}`), accessOf(given))),
  );
  for (let at = 0; at < 21; at++) given.add(`up-${at}`);
  await vi.waitFor(() => expect(told).toHaveLength(20));
  expect(told).not.toContain(ids[0]);
});

test('a look that fails ends the wait with a line in the log', async () => {
  const access = accessOf(new Set(), () => {
    throw new Error('no database');
  });
  watch.begin(inputOfLink(missing('work'), access));
  await vi.waitFor(() => expect(log.join()).toContain('is not told that its person has given'));
  expect(told).toEqual([]);
});
