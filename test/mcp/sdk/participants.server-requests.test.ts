import { describe, expect, it } from 'vitest';
import { InFlightMap } from '../../../src/collections/in-flight-map.ts';
import { type Participant, ServerRequests } from '../../../src/mcp/sdk/participants.ts';

const party = (sessionId: string): Participant => ({
  sessionId,
  calls: new InFlightMap(),
  hear: () => undefined,
  checkRequest: () => undefined,
});
const question = (id: number, params?: Record<string, unknown>) => ({
  jsonrpc: '2.0' as const,
  id,
  method: 'roots/list',
  ...(params ? { params } : {}),
});

describe('requests of a server', () => {
  it('have another id each time, and the answer has the server’s again (T-128)', () => {
    const requests = new ServerRequests();
    const ann = party('a');
    const first = requests.ask(ann, question(0));
    const second = requests.ask(ann, question(1));
    expect(first.id).not.toBe(second.id);
    const answer = { jsonrpc: '2.0' as const, id: first.id, result: {} };
    expect(requests.answer(ann, answer)).toEqual({ ...answer, id: 0 });
    expect(requests.answer(ann, answer)).toBeUndefined();
    expect(requests.size).toBe(1);
  });

  it('are answered by whom they went to, only', () => {
    const requests = new ServerRequests();
    const [ann, eve] = [party('a'), party('e')];
    const { id } = requests.ask(ann, question(0, { _meta: { progressToken: 0 } }));
    const progress = { jsonrpc: '2.0' as const, method: 'x', params: { progressToken: id } };
    expect(requests.answer(eve, { jsonrpc: '2.0', id })).toBeUndefined();
    expect(requests.progress(eve, progress)).toBeUndefined();
    expect(requests.progress(ann, progress)?.params).toEqual({ progressToken: 0 });
    expect(requests.answer(ann, { jsonrpc: '2.0', id: 0 })).toBeUndefined();
    expect(requests.answer(ann, { jsonrpc: '2.0', id: '__proto__' })).toBeUndefined();
  });

  it('leave nothing behind once cancelled or forgotten', () => {
    const requests = new ServerRequests();
    const [ann, bob] = [party('a'), party('b')];
    const { id } = requests.ask(ann, question(0));
    requests.ask(ann, question(1));
    requests.ask(bob, question(2));
    const cancelled = {
      jsonrpc: '2.0' as const,
      method: 'notifications/cancelled',
      params: { requestId: 0 },
    };
    expect(requests.cancel(cancelled)?.message.params).toEqual({ requestId: id });
    expect(requests.cancel(cancelled)).toBeUndefined();
    expect([requests.forgetAll(ann), requests.forgetAll(bob), requests.size]).toEqual([[1], [2], 0]);
  });
});
