import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HeldBytes, type LostBytes } from '../../../src/mcp/http/held-bytes.ts';

const limits = { perAccount: 100, total: 150, patienceSeconds: 1 };
const ada = { account: 'ada', client: 'a' };
const grace = { account: 'grace', client: 'g' };

function create() {
  const lost: LostBytes[] = [];
  return { held: new HeldBytes(limits, (bytes) => lost.push(bytes)), lost };
}

function readingOf() {
  return { pause: vi.fn(), resume: vi.fn(), giveUp: vi.fn() };
}

describe('bytes that wait for clients', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('have a budget for each account, and what has no room changes nothing (T-205)', () => {
    const { held } = create();
    const [first, second] = [held.outgoing(ada, vi.fn()), held.outgoing(ada, vi.fn())];
    expect(first.set(80)).toBe(true);
    expect(second.set(30)).toBe(false);
    expect(held.bytes).toBe(80);
    first.end();
    expect(second.set(30)).toBe(true);
  });

  it('have a budget for all accounts together (T-205)', () => {
    const { held } = create();
    held.outgoing(ada, vi.fn()).set(100);
    expect(held.outgoing(grace, vi.fn()).set(60)).toBe(false);
    expect(held.outgoing(grace, vi.fn()).set(50)).toBe(true);
  });

  it('cut off the client that has taken nothing for longest, after the patience and if others need the room (T-205)', () => {
    const { held, lost } = create();
    const [cutFirst, cutSecond] = [vi.fn(), vi.fn()];
    const first = held.outgoing(ada, cutFirst);
    first.set(50);
    held.outgoing(ada, cutSecond).set(50);
    vi.advanceTimersByTime(900);
    first.progress();
    expect(held.hasRoom('ada', 50)).toBe(false);
    vi.advanceTimersByTime(300);
    expect(cutSecond).not.toHaveBeenCalled();
    expect(held.hasRoom('ada', 50)).toBe(true);
    expect([cutFirst.mock.calls.length, cutSecond.mock.calls.length]).toEqual([0, 1]);
    expect(lost).toEqual([{ loss: 'slow', client: 'a', bytes: 50 }]);
  });

  it('spare the clients of other accounts if one account has no room (T-205)', () => {
    const { held } = create();
    const cut = vi.fn();
    held.outgoing(grace, cut).set(10);
    vi.advanceTimersByTime(5_000);
    held.outgoing(ada, vi.fn()).set(100);
    expect(held.hasRoom('ada', 10)).toBe(false);
    expect(cut).not.toHaveBeenCalled();
  });

  it('are counted while they wait for something else, and no client is cut off for them (T-205)', () => {
    const { held } = create();
    const release = held.park('ada', 100);
    vi.advanceTimersByTime(5_000);
    expect(held.park('ada', 1)).toBeUndefined();
    release?.();
    release?.();
    expect(held.bytes).toBe(0);
  });
});

describe('the time of a client', () => {
  it('does not pass while the event loop is blocked, as nobody can see then that it takes something (T-205)', async () => {
    const held = new HeldBytes({ ...limits, patienceSeconds: 0.1 });
    held.outgoing(ada, vi.fn()).set(100);
    const until = performance.now() + 300;
    while (performance.now() < until);
    expect(held.hasRoom('ada', 1)).toBe(false);
    await vi.waitFor(() => expect(held.hasRoom('ada', 1)).toBe(true));
  });
});

describe('an answer that is read from a backend', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('waits until there is room for all of it (T-205)', async () => {
    const { held } = create();
    const client = held.outgoing(ada, vi.fn());
    client.set(60);
    const reading = readingOf();
    const answer = held.incoming('ada', reading);
    answer.expect(50);
    expect(reading.pause).toHaveBeenCalledOnce();
    client.end();
    await vi.advanceTimersByTimeAsync(1);
    expect(reading.resume).toHaveBeenCalledOnce();
    expect(held.bytes).toBe(50);
    answer.end();
    expect(held.bytes).toBe(0);
  });

  it('makes room by cutting off a client that takes nothing, and is given up if there is none in time (T-205)', async () => {
    const { held } = create();
    const [cut, reading] = [vi.fn(), readingOf()];
    held.outgoing(ada, cut).set(60);
    held.incoming('ada', reading).expect(50);
    await vi.advanceTimersByTimeAsync(1_200);
    expect(cut).toHaveBeenCalledOnce();
    expect(reading.resume).toHaveBeenCalledOnce();

    const [other, client] = [readingOf(), held.outgoing(ada, vi.fn())];
    client.set(50);
    held.incoming('ada', other).expect(20);
    for (let turn = 0; turn < 25; turn++) {
      client.progress();
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(other.giveUp).toHaveBeenCalledOnce();
  });

  it('goes on beyond the budget if readings alone fill it, one at a time: otherwise each would wait for the others (T-205)', async () => {
    const { held } = create();
    const readings = [readingOf(), readingOf()] as const;
    const [first, second] = readings.map((reading) => held.incoming('ada', reading));
    first?.set(60);
    second?.set(60);
    first?.set(70);
    await vi.advanceTimersByTimeAsync(1);
    const goingOn = readings.filter(
      ({ pause, resume }) => pause.mock.calls.length <= resume.mock.calls.length,
    );
    expect(goingOn).toHaveLength(1);
    first?.end();
    second?.end();
    await vi.advanceTimersByTimeAsync(200);
    expect(held.bytes).toBe(0);
  });

  it('never waits if others are answered the same way (T-205)', () => {
    const { held } = create();
    held.outgoing(ada, vi.fn()).set(100);
    held.outgoing(grace, vi.fn()).set(50);
    const reading = readingOf();
    const shared = held.incoming('', reading);
    shared.set(1_000);
    expect(reading.pause).not.toHaveBeenCalled();
    expect(held.bytes).toBe(1_150);
    shared.end();
    expect(held.bytes).toBe(150);
  });
});
