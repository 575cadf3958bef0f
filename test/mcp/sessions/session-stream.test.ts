import { describe, expect, it } from 'vitest';
import { startGate } from '../support/gate.ts';
import { createTalkingServer, openStream, post, work } from '../support/talking-server.ts';

describe('a stream', () => {
  it('is left by the server itself, which says when to come back (B4-02)', async () => {
    const { source } = createTalkingServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const json = { ...work(0), params: { name: 'leave', arguments: {} } };
    const events = await (await post(gate, token, session, json)).rest();
    expect(events.at(-1)).toEqual({ retry: 1000 });
    const resumed = await (await openStream(gate, token, session, events[0]?.id)).rest();
    expect(resumed.map(({ message }) => message?.id)).toEqual([7]);
  });
});
