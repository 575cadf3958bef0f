import { describe, expect, it } from 'vitest';
import type { EventStream } from '../../../src/mcp/http/exchange.ts';
import type { EventLog, LogOutcome } from '../../../src/mcp/legacy/event-log.ts';
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

  /** A stream whose log a test lets write, and the events that its listener hears. */
  function openHeard(append: EventLog['append']) {
    const opening = Promise.withResolvers<LogOutcome>();
    const log: EventLog = {
      open: () => opening.promise,
      append,
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
    return { stream, heard, opened: opening.resolve };
  }
  const answer = (id: number) => ({ jsonrpc: '2.0', id, result: {} }) as never;

  it('gives nobody an event id before it is kept, and then all in their order (B3-09)', async () => {
    const { stream, heard, opened } = openHeard(() => ({ isKept: true }));
    stream.prime();
    stream.write(answer(1), '1');
    stream.finish();
    await Promise.resolve();
    expect(heard).toEqual([]);
    opened('stored');
    await stream.settled();
    expect(heard).toEqual(['s/0 ', 'retry', 's/1 {"jsonrpc":"2.0","id":1,"result":{}}', 'end']);
  });

  it('sends an event to a client once a remote database has it, and without an id if that failed', async () => {
    const writes = [1, 2, 3].map(() => Promise.withResolvers<LogOutcome>());
    let at = 0;
    const { stream, heard, opened } = openHeard(() => {
      const written = writes[at++]?.promise;
      return { isKept: true, ...(written && { written }) };
    });
    opened('stored');
    for (const id of [1, 2, 3]) stream.write(answer(id), String(id));
    stream.finish();
    writes[1]?.resolve('failed');
    await writes[1]?.promise;
    expect(heard).toEqual([]);
    writes[0]?.resolve('stored');
    // Another process has the session meanwhile, and says this itself.
    writes[2]?.resolve('refused');
    await stream.settled();
    expect(heard).toEqual([
      's/1 {"jsonrpc":"2.0","id":1,"result":{}}',
      'undefined {"jsonrpc":"2.0","id":2,"result":{}}',
      'end',
    ]);
  });

  it('that could not be stored gives no event ids: nobody could resume with them', async () => {
    const { stream, heard, opened } = openHeard(() => ({ isKept: true }));
    stream.prime();
    stream.write(answer(1), '1');
    opened('failed');
    await stream.settled();
    expect(heard).toEqual(['retry', 'undefined {"jsonrpc":"2.0","id":1,"result":{}}']);
  });
});
