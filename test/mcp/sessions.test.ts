import { describe, expect, it } from 'vitest';
import { createSessionStore, type Session, type SessionStore } from '../../src/mcp/sessions.ts';
import { createLogger } from '../../src/observability/logger.ts';

function createStore(limits = { maxPerPrincipal: 2, maxTotal: 3, idleSeconds: 60 }) {
  const clock = { now: 1_800_000_000 };
  return { store: createSessionStore(limits, 0, () => clock.now, createLogger('silent')), clock };
}

/** Opens a session whose server is connected and idle. */
function open(store: SessionStore, principal: string): Session {
  const session = store.open(principal);
  if (typeof session === 'string') throw new Error(session);
  session.server = { connect: async () => {}, close: async () => {} };
  return session;
}

describe('the session store', () => {
  it('gives a session to its principal and to nobody else (T-125, T-126)', () => {
    const { store } = createStore();
    const session = open(store, 'ann');
    expect(store.use(session.id, 'ann')).toBe(session);
    expect(store.use(session.id, 'bob')).toBeUndefined();
    expect(store.use('__proto__', 'ann')).toBeUndefined();
  });

  it('lets the longest unused session of a principal give way to its newest (T-144)', () => {
    const { store } = createStore();
    const [first, second] = [open(store, 'ann'), open(store, 'ann')];
    store.use(first.id, 'ann');
    const third = open(store, 'ann');
    expect([first, second, third].map(({ id }) => store.use(id, 'ann') !== undefined)).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('lets none give way that is being opened, answers, or has an open stream (T-144)', () => {
    const { store } = createStore();
    store.open('ann');
    open(store, 'ann').openStreams = 1;
    expect(store.open('ann')).toBe('too_many_sessions');
    const { store: other } = createStore();
    open(other, 'bob').transport.begin([1]);
    open(other, 'bob').transport.begin([1]);
    expect(other.open('bob')).toBe('too_many_sessions');
  });

  it('is full at its total, and takes no session from one principal for another (T-144)', () => {
    const { store } = createStore();
    const ofAnn = open(store, 'ann');
    open(store, 'ann');
    open(store, 'bob');
    expect(store.open('eve')).toBe('sessions_exhausted');
    expect(store.open('bob')).not.toBe('sessions_exhausted');
    expect(store.use(ofAnn.id, 'ann')).toBe(ofAnn);
    expect(store.size).toBe(3);
  });

  it('has room again once idle sessions are over, without waiting for the sweep (T-144)', () => {
    const { store, clock } = createStore();
    for (const principal of ['ann', 'bob', 'cid']) open(store, principal);
    clock.now += 60;
    expect(typeof store.open('eve')).toBe('object');
    expect(store.size).toBe(1);
  });

  it('sweeps what was idle, and ends servers and streams with it (T-144)', async () => {
    const { store, clock } = createStore();
    const idle = open(store, 'ann');
    const busy = open(store, 'bob');
    busy.openStreams = 1;
    let closed = 0;
    idle.server = {
      connect: async () => {},
      close: async () => {
        closed++;
      },
    };
    clock.now += 60;
    await store.sweep();
    expect([store.size, closed]).toEqual([1, 1]);
    expect(store.use(busy.id, 'bob')).toBe(busy);
  });

  it('ends a session whose server fails to close, and goes on', async () => {
    const { store } = createStore();
    const session = open(store, 'ann');
    session.server = { connect: async () => {}, close: () => Promise.reject(new Error('stuck')) };
    await store.end(session);
    expect(store.size).toBe(0);
  });

  it('forgets a session whose server closed it', async () => {
    const { store } = createStore();
    const session = open(store, 'ann');
    await session.transport.close();
    expect([store.size, store.use(session.id, 'ann')]).toEqual([0, undefined]);
  });

  it('ends all', async () => {
    const { store } = createStore();
    open(store, 'ann');
    open(store, 'bob');
    await store.endAll();
    expect(store.size).toBe(0);
  });
});
