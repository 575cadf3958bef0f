import { describe, expect, it } from 'vitest';
import type { EventStream } from '../../../src/mcp/http/exchange.ts';
import type { EventLog } from '../../../src/mcp/legacy/event-log.ts';
import { SessionStream } from '../../../src/mcp/legacy/session-streams.ts';
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

  it('gives nobody an event id before it is kept, and then all in their order (B3-09)', async () => {
    let keep = (): void => undefined;
    const kept = new Promise<void>((resolve) => {
      keep = resolve;
    });
    const log: EventLog = {
      open: () => kept,
      append: () => true,
      close() {},
      stored: async () => undefined,
      resume: async () => undefined,
    };
    const heard: string[] = [];
    const listener: EventStream = {
      isOpen: true,
      send: (data, id) => heard.push(`${id} ${data}`),
      park: () => () => undefined,
      retry: () => heard.push('retry'),
      end: () => heard.push('end'),
      onClose() {},
    };
    const stream = new SessionStream('s', log, ['1']);
    stream.attach(listener);
    stream.prime();
    stream.write({ jsonrpc: '2.0', id: 1, result: {} } as never, '1');
    stream.finish();
    await Promise.resolve();
    expect(heard).toEqual([]);
    keep();
    await kept;
    expect(heard).toEqual(['s/0 ', 'retry', 's/1 {"jsonrpc":"2.0","id":1,"result":{}}', 'end']);
  });
});
