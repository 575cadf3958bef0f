import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Heartbeat } from '../../../src/gateway/backends/heartbeat.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A heartbeat of 10 s. @param isAnswered whether the backend has answered a ping before */
function beating(isAnswered = true, everyMs = 10_000) {
  const [ping, dead] = [vi.fn(), vi.fn()];
  const work = { isBusy: false };
  const heartbeat = new Heartbeat({
    ...{ everyMs, known: { isAnswered }, ping, dead },
    isBusy: () => work.isBusy,
    nowMs: () => Date.now(),
  });
  heartbeat.start();
  const pass = (seconds: number): void => void vi.advanceTimersByTime(seconds * 1000);
  return { heartbeat, ping, dead, work, pass };
}

test('Who says nothing is pinged, and dead after two intervals without a sign of life (FA-39)', () => {
  const { ping, dead, pass } = beating();
  pass(20);
  expect([ping.mock.calls.length, dead.mock.calls.length]).toEqual([1, 0]);
  pass(10);
  expect(dead).not.toHaveBeenCalled();
  pass(10);
  expect(dead).toHaveBeenCalledOnce();
  pass(100);
  expect([ping.mock.calls.length, dead.mock.calls.length]).toEqual([1, 1]);
});

test('Anything that is said is a sign of life, and spares the ping (FA-39)', () => {
  const { heartbeat, ping, dead, pass } = beating();
  for (let count = 0; count < 20; count++) {
    pass(9);
    heartbeat.heard();
  }
  expect(ping).not.toHaveBeenCalled();
  pass(25);
  expect(ping).toHaveBeenCalledOnce();
  heartbeat.heard();
  pass(9);
  expect(dead).not.toHaveBeenCalled();
});

test('A program that works on a call is not pinged, and not judged by a ping just before the call (FA-39)', () => {
  const { heartbeat, ping, dead, work, pass } = beating();
  work.isBusy = true;
  pass(600);
  expect(ping).not.toHaveBeenCalled();
  work.isBusy = false;
  pass(10);
  expect(ping).toHaveBeenCalledOnce();
  heartbeat.asked();
  work.isBusy = true;
  pass(600);
  expect(dead).not.toHaveBeenCalled();
});

test('A program that was silent before a call is dead in spite of it (FA-39)', () => {
  const { heartbeat, ping, dead, work, pass } = beating();
  pass(20);
  expect(ping).toHaveBeenCalledOnce();
  pass(5);
  heartbeat.asked();
  work.isBusy = true;
  pass(15);
  expect(dead).toHaveBeenCalledOnce();
});

test('A backend that never answered a ping is not judged by pings: it may drop what it does not know (FA-39)', () => {
  const { heartbeat, ping, dead, pass } = beating(false);
  expect(ping).toHaveBeenCalledOnce();
  pass(600);
  expect(dead).not.toHaveBeenCalled();
  heartbeat.answered();
  pass(40);
  expect(dead).toHaveBeenCalledOnce();
});

test('Nothing is sent at an interval of 0, nor after the end (FA-39)', () => {
  const never = beating(false, 0);
  never.pass(600);
  const { heartbeat, ping, pass } = beating();
  heartbeat.stop();
  pass(600);
  expect([never.ping.mock.calls.length, ping.mock.calls.length]).toEqual([0, 0]);
});
