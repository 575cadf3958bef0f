import { describe, expect, it, vi } from 'vitest';
import { readAnswer, startGate } from '../support/gate.ts';
import { inSession, ping } from '../support/talking-server.ts';
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
