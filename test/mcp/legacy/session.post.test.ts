import { describe, expect, it, vi } from 'vitest';
import { readAnswer, startGate } from '../support/gate.ts';
import { inSession, openStream, ping, post } from '../support/talking-server.ts';
import { createSlowServer, wait } from '../support/tools.ts';

describe('a session that ends while a call runs', () => {
  it('answers the call with an error (T-142)', async () => {
    const { source, seen } = createSlowServer();
    const gate = await startGate({ source, streamAfterMs: 1000 });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const running = gate.send(token, {
      json: { ...ping(3), method: 'tools/call', params: wait(400) },
      headers: inSession(session),
    });
    await vi.waitFor(() => expect(seen.started).toEqual(['a']));
    await gate.send(token, { method: 'DELETE', headers: inSession(session) });
    expect(await readAnswer(await running)).toMatchObject({ id: 3, error: { code: -32000 } });
    expect(seen.aborted).toEqual(['a']);
  });
});

describe('a batch with the ids 1 and "1"', () => {
  /**
   * Posts it to a server that takes longer for "1", and reads its stream until the answer to 1.
   * @param longer milliseconds that "1" takes
   */
  async function answerFirst(longer: number) {
    const { source } = createSlowServer();
    const gate = await startGate({ source, streamAfterMs: 20 });
    const token = gate.issue('ann');
    const session = await gate.initialize(token, '2025-03-26');
    const stream = await post(gate, token, session, [
      { ...ping(1), method: 'tools/call', params: wait(100, 'number') },
      { ...ping('1'), method: 'tools/call', params: wait(longer, 'text') },
    ]);
    const first = await stream.until(({ result }) => result !== undefined);
    expect(first.message).toMatchObject({ id: 1, result: { content: [{ text: 'number for ann' }] } });
    stream.leave();
    return { gate, resume: async () => (await openStream(gate, token, session, first.id)).rest() };
  }

  it('gets both answers where its stream is opened again between them (B3-09, B3-13)', async () => {
    const { resume } = await answerFirst(600);
    const events = await resume();
    expect(events).toHaveLength(1);
    expect(events[0]?.message).toMatchObject({ id: '1', result: { content: [{ text: 'text for ann' }] } });
  });

  it('is told that "1" broke off where the process ends between them (B3-09, T-142)', async () => {
    const { gate, resume } = await answerFirst(10_000);
    await gate.restart();
    const events = await resume();
    expect(events).toHaveLength(1);
    expect(events[0]?.message).toMatchObject({
      id: '1',
      error: { code: -32603, message: expect.stringContaining('restarted while this call ran') },
    });
  });
});
