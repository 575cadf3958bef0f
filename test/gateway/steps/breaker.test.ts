import { describe, expect, it } from 'vitest';
import {
  Circuit,
  type CircuitRelay,
  type CircuitState,
  createBreaker,
} from '../../../src/gateway/steps/breaker.ts';
import type { RequestMessage } from '../../../src/mcp/protocol.ts';
import { stepped } from './support/stepped.ts';

const limits = { failures: 3, windowMs: 10_000, openMs: 5000 };

/** A server whose tool "bad" fails as a backend, as does one named as a failure, and whose others answer. */
function start({
  isOneForAll = true,
  isPersonal = false,
  relay = undefined as CircuitRelay | undefined,
} = {}) {
  const clock = { ms: 0 };
  const told: string[] = [];
  const tell = (_fields: unknown, text?: string): void => void told.push(String(text));
  const logger = { warn: tell, info: tell } as Parameters<typeof createBreaker>[0]['logger'];
  const breaker = createBreaker({
    name: 'Notes',
    isOneForAll,
    isPersonal,
    limits,
    relay,
    logger,
    nowMs: () => clock.ms,
  });
  let isMended = false;
  const answer = ({ params }: RequestMessage): object => {
    if (params?.name === 'bad' && !isMended)
      return { error: { code: -32603, message: 'x', data: { reason: 'backend_ended' } } };
    const name = String(params?.name);
    if (name.startsWith('backend_') && !isMended)
      return { error: { code: -32603, message: 'x', data: { reason: name } } };
    if (params?.name === 'busy')
      return { error: { code: -32000, message: 'x', data: { reason: 'backend_processes_exhausted' } } };
    if (params?.name === 'wrong') return { error: { code: -32602, message: 'no such note' } };
    return { result: { content: [] } };
  };
  const { server, talk } = stepped([breaker], { 'tools/call': answer, 'prompts/list': answer });
  return { clock, told, breaker, server, talk, mend: () => (isMended = true) };
}

async function fails(ask: (method: string, params: object) => Promise<{ error?: { data?: unknown } }>) {
  return (await ask('tools/call', { name: 'bad' })).error?.data;
}

describe('the breaker of a backend', () => {
  it('answers at once after failures in a row, says when to come back, and tries again with one call (T-157)', async () => {
    const { talk, server, clock, breaker, told, mend } = start();
    const { ask } = await talk();
    for (let count = 0; count < 3; count++) expect(await fails(ask)).toEqual({ reason: 'backend_ended' });
    expect(await fails(ask)).toEqual({ reason: 'backend_resting', retryAfterSeconds: 5 });
    expect(server.requests('tools/call')).toHaveLength(3);
    expect(breaker.status()).toEqual({ isOpenForAll: false, accounts: 1 });
    clock.ms = 5000;
    expect(await fails(ask)).toEqual({ reason: 'backend_ended' });
    expect(await fails(ask)).toMatchObject({ reason: 'backend_resting' });
    clock.ms = 10_000;
    mend();
    expect(await fails(ask)).toBeUndefined();
    expect(await fails(ask)).toBeUndefined();
    expect(breaker.status()).toEqual({ isOpenForAll: false, accounts: 0 });
    expect(told).toContain('a backend fails for an account, and is left alone by it for a while');
  });

  it('leaves others alone, whatever one account does (T-158)', async () => {
    const { talk } = start();
    const [ann, bob] = [await talk({ subject: 'ann' }), await talk({ subject: 'bob' })];
    for (let count = 0; count < 10; count++) await fails(ann.ask);
    expect(await fails(ann.ask)).toMatchObject({ reason: 'backend_resting' });
    expect((await bob.ask('tools/call', { name: 'good' })).result).toBeDefined();
    for (let count = 0; count < 2; count++) expect(await fails(bob.ask)).toEqual({ reason: 'backend_ended' });
  });

  it('is open for all where the server itself fails several accounts and nobody succeeds', async () => {
    const { talk, breaker, told, clock, mend } = start();
    const [ann, bob, eve] = await Promise.all(['ann', 'bob', 'eve'].map((subject) => talk({ subject })));
    for (const one of [ann, bob, ann]) await one?.ask('tools/call', { name: 'backend_unreachable' });
    expect(breaker.status().isOpenForAll).toBe(true);
    expect((await eve?.ask('tools/call', { name: 'good' }))?.error?.data).toMatchObject({
      reason: 'backend_resting',
    });
    clock.ms = 5000;
    mend();
    expect((await eve?.ask('tools/call', { name: 'good' }))?.result).toBeDefined();
    expect(breaker.status().isOpenForAll).toBe(false);
    expect(told).toEqual([
      'a backend fails, and is left alone for a while',
      'a backend that failed answers again',
    ]);
  });

  it.each<[string, string, string, Parameters<typeof start>[0], boolean]>([
    ['what ends by a call', 'tools/call', 'backend_ended', {}, false],
    ['a call that takes too long', 'tools/call', 'backend_call_timed_out', {}, false],
    ['a call that its server fails at', 'tools/call', 'backend_failed', {}, false],
    ['a list of the one server', 'prompts/list', 'backend_failed', {}, true],
    ['a list of a process of one’s own', 'prompts/list', 'backend_ended', { isOneForAll: false }, false],
    ['a program that does not start', 'tools/call', 'backend_not_started', { isOneForAll: false }, true],
    [
      'one that does not start with what people bring',
      'tools/call',
      'backend_not_started',
      { isOneForAll: false, isPersonal: true },
      false,
    ],
  ])(
    '%s is no failure for all but of the server as a whole (T-158)',
    async (_what, method, name, of, opens) => {
      const { talk, breaker } = start(of);
      const [ann, bob] = [await talk({ subject: 'ann' }), await talk({ subject: 'bob' })];
      for (const { ask } of [ann, bob, ann, bob, ann, bob]) await ask(method, { name });
      expect(breaker.status()).toEqual({ isOpenForAll: opens, accounts: opens ? 0 : 2 });
    },
  );

  it('does not count errors of tools, nor that there is no room', async () => {
    const { talk } = start();
    const { ask } = await talk();
    for (let count = 0; count < 5; count++)
      for (const name of ['wrong', 'busy']) await ask('tools/call', { name });
    expect((await ask('tools/call', { name: 'good' })).result).toBeDefined();
  });

  it('does not take what says nothing of the server for an answer of it', async () => {
    const { talk } = start();
    const { ask } = await talk();
    for (let count = 0; count < 3; count++) {
      await fails(ask);
      await ask('tools/call', { name: 'busy' });
    }
    expect(await fails(ask)).toMatchObject({ reason: 'backend_resting' });
  });

  it('takes a cancelled call for no answer of the server: another may try', async () => {
    const { talk, clock, mend, server, breaker } = start();
    const { ask, say } = await talk();
    for (let count = 0; count < 3; count++) await fails(ask);
    clock.ms = 5000;
    mend();
    say({ id: 'x', method: 'tools/call', params: { name: 'good' } });
    say({ method: 'notifications/cancelled', params: { requestId: 'x' } });
    await server.hears(({ method }) => method === 'notifications/cancelled');
    await new Promise((resolve) => setImmediate(resolve));
    expect(breaker.status().accounts).toBe(1);
    expect((await ask('tools/call', { name: 'good' })).result).toBeDefined();
  });
});

describe('circuits', () => {
  const limits = { failures: 3, windowMs: 1000, openMs: 500 };

  function circuit(minAccounts = 1) {
    const clock = { ms: 0 };
    return { clock, made: new Circuit(limits, minAccounts, () => clock.ms) };
  }

  describe('a circuit', () => {
    it('opens by failures in a row, says how long to wait, and lets one call through after that (T-157)', () => {
      const { made, clock } = circuit();
      expect([made.failed('a'), made.failed('a'), made.enter()]).toEqual([false, false, 0]);
      expect(made.failed('a')).toBe(true);
      clock.ms = 100;
      expect([made.isOpen, made.enter()]).toEqual([true, 400]);
      clock.ms = 500;
      expect(made.enter()).toBe(0);
      expect(made.enter()).toBeGreaterThan(0);
      expect(made.succeeded()).toBe(true);
      expect([made.isOpen, made.enter(), made.isIdle]).toEqual([false, 0, true]);
    });

    it('stays open where the call that was let through fails, and lets another through where it came to no end', () => {
      const { made, clock } = circuit();
      for (let count = 0; count < 3; count++) made.failed('a');
      clock.ms = 500;
      made.enter();
      expect(made.failed('a')).toBe(false);
      expect(made.enter()).toBe(500);
      clock.ms = 1000;
      expect(made.enter()).toBe(0);
      made.gaveUp();
      expect(made.enter()).toBe(0);
    });

    it('lets another try where the one who tries takes long: nobody keeps it open by a call that does not end (T-158)', () => {
      const { made, clock } = circuit();
      for (let count = 0; count < 3; count++) made.failed('a');
      clock.ms = 500;
      expect(made.enter()).toBe(0);
      clock.ms = 999;
      expect(made.enter()).toBeGreaterThan(0);
      clock.ms = 1000;
      expect(made.enter()).toBe(0);
      expect(made.enter()).toBeGreaterThan(0);
    });

    it('counts failures in a row only, and only those of the window', () => {
      const { made, clock } = circuit();
      made.failed('a');
      made.failed('a');
      made.succeeded();
      expect(made.failed('a')).toBe(false);
      clock.ms = 900;
      made.failed('a');
      clock.ms = 1100;
      expect(made.failed('a')).toBe(false);
      expect(made.failed('a')).toBe(true);
    });

    it('of many opens by failures of several accounts, none of which has more than its share (T-158)', () => {
      const { made } = circuit(2);
      for (let count = 0; count < 20; count++) expect(made.failed('a')).toBe(false);
      expect(made.failed('b')).toBe(true);
      const { made: fair } = circuit(2);
      fair.failed('b');
      for (let count = 0; count < 20; count++) fair.failed('a');
      expect(fair.isOpen).toBe(true);
      const one = new Circuit({ ...limits, failures: 1 }, 2, () => 0);
      expect([one.failed('a'), one.isOpen]).toEqual([false, false]);
      const four = new Circuit({ ...limits, failures: 4 }, 2, () => 0);
      for (let count = 0; count < 20; count++) four.failed('a');
      expect([four.failed('b'), four.failed('b')]).toEqual([false, true]);
    });
  });
});

/** Relays of two nodes, linked without delay. */
function linkCircuits(): [CircuitRelay, CircuitRelay] {
  const ends: ((state: CircuitState) => void)[][] = [[], []];
  const relay = (own: number, other: number): CircuitRelay => ({
    tell(state) {
      for (const hear of ends[other] ?? []) hear(state);
    },
    listen(hear) {
      ends[own]?.push(hear);
      return () => {
        ends[own] = [];
      };
    },
  });
  return [relay(0, 1), relay(1, 0)];
}

describe('the breakers of two nodes', () => {
  it('leave a server alone together, for an account and for all, until one of them gets an answer (T-157)', async () => {
    const [relayHere, relayThere] = linkCircuits();
    const [here, there] = [start({ relay: relayHere }), start({ relay: relayThere })];
    const [ann, bob] = [await here.talk({ subject: 'ann' }), await here.talk({ subject: 'bob' })];
    const eve = await there.talk({ subject: 'eve' });
    for (const one of [ann, bob, ann]) await one.ask('tools/call', { name: 'backend_unreachable' });
    expect(there.breaker.status()).toEqual({ isOpenForAll: true, accounts: 0 });
    expect((await eve.ask('tools/call', { name: 'good' })).error?.data).toMatchObject({
      reason: 'backend_resting',
    });
    there.clock.ms = 5000;
    expect((await eve.ask('tools/call', { name: 'good' })).result).toBeDefined();
    expect(here.breaker.status().isOpenForAll).toBe(false);
    await fails(ann.ask);
    expect(there.breaker.status()).toEqual({ isOpenForAll: false, accounts: 1 });
    there.breaker.close();
    for (let count = 0; count < 3; count++) await fails(bob.ask);
    expect([here.breaker.status().accounts, there.breaker.status().accounts]).toEqual([2, 1]);
  });

  it('are open no longer than their own limit, whatever another node says', async () => {
    const [relayHere, relayThere] = linkCircuits();
    const there = start({ relay: relayThere });
    const ann = await there.talk();
    relayHere.tell({ openMs: 1e9 });
    there.clock.ms = limits.openMs;
    expect((await ann.ask('tools/call', { name: 'good' })).result).toBeDefined();
  });
});
