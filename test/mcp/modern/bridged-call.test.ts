import { describe, expect, it, vi } from 'vitest';
import { BridgedCall, ParkedCalls } from '../../../src/mcp/modern/bridged-call.ts';
import { declaredCapabilities } from '../../../src/mcp/modern/client-inputs.ts';
import { internalRequest } from '../../../src/mcp/modern/internal-call.ts';
import type { Answer, Message } from '../../../src/mcp/protocol.ts';
import { createCaller } from '../support/modern-calls.ts';

function start(params: Record<string, unknown> = { name: 't' }) {
  const request = internalRequest('tools/call', params);
  const capabilities = { sampling: {}, roots: {} };
  Object.assign(request.params?._meta as object, {
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...(params._meta as object | undefined),
  });
  const callOf = (more: Record<string, unknown> = {}) => ({
    request: { ...request, id: 9, params: { ...request.params, ...more } },
    caller: createCaller(),
    notify: vi.fn(),
    answer: vi.fn<(answer: Answer) => void>(),
  });
  const parked = new ParkedCalls<BridgedCall>(8);
  const said: Message[] = [];
  const end = vi.fn(async () => {});
  const server = { connect: async () => {}, close: async () => {} };
  const first = callOf();
  const bridged = new BridgedCall(first, parked, vi.fn());
  const initialized = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    serverInfo: { name: 's', version: '1' },
  };
  bridged.begin({ server, say: (message) => said.push(message), end }, initialized);
  return { bridged, parked, said, end, first, callOf };
}

const ask = (id: number, method: string) => ({ jsonrpc: '2.0' as const, id, method, params: {} });
const turn = () => new Promise((resolve) => setTimeout(resolve, 20));

describe('a call in a conversation of an older revision', () => {
  it('asks together what is asked together, and answers each question by itself (C4-02, C4-06)', async () => {
    const { bridged, parked, said, first, callOf, end } = start();
    bridged.hear(ask(101, 'sampling/createMessage'), 9);
    bridged.hear(ask(102, 'roots/list'), 9);
    await turn();
    const { result = {} } = first.answer.mock.calls[0]?.[0] ?? {};
    expect(Object.keys(result.inputRequests as object)).toEqual(['input-1', 'input-2']);

    const [a, b] = [{ role: 'assistant' }, { roots: [] }];
    const inputResponses = { 'input-2': b, 'input-1': a, other: {} };
    const second = callOf({ inputResponses });
    parked
      .take(String(result.requestState), JSON.stringify(['https://as.example', 'ann', 'c']))
      ?.resume(second);
    expect(said.slice(-2)).toEqual([
      { jsonrpc: '2.0', id: 101, result: a },
      { jsonrpc: '2.0', id: 102, result: b },
    ]);
    bridged.hear({ jsonrpc: '2.0', id: 9, result: { content: [] } } as Message);
    expect(second.answer).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ status: 200 }));
    expect(end).toHaveBeenCalledOnce();
  });

  it('keeps the answer that comes while nobody waits', async () => {
    const { bridged, first, callOf } = start();
    bridged.hear(ask(101, 'roots/list'), 9);
    await turn();
    expect(first.answer).toHaveBeenCalledOnce();
    bridged.hear({ jsonrpc: '2.0', id: 9, error: { code: -32001, message: 'Request timed out' } } as Message);
    const second = callOf();
    bridged.resume(second);
    expect(second.answer.mock.calls[0]?.[0]).toMatchObject({ error: { code: -32001 } });
  });

  it('does not ask what is no input, and answers ping (C4-01)', async () => {
    const { bridged, said, first } = start();
    bridged.hear(ask(101, 'own/question'));
    bridged.hear(ask(102, 'ping'));
    await turn();
    expect(said.slice(-2)).toMatchObject([
      { id: 101, error: { code: -32601 } },
      { id: 102, result: {} },
    ]);
    expect(first.answer).not.toHaveBeenCalled();
  });

  it('hears what is said of other requests as nothing (T-127)', () => {
    const { bridged, first } = start();
    bridged.hear({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'error' } }, 10);
    bridged.hear({ jsonrpc: '2.0', id: '9', result: {} } as Message);
    expect([first.notify.mock.calls, first.answer.mock.calls]).toEqual([[], []]);
  });

  it('tells the server of its end, and is silent from then on (B5-14)', () => {
    const { bridged, said, end, first } = start();
    bridged.cancel();
    bridged.ended();
    expect(said.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 9 } });
    expect(end).toHaveBeenCalledOnce();
    expect(first.answer).not.toHaveBeenCalled();
  });

  it('shows the server nothing of states and responses', () => {
    const { said } = start({ name: 't', inputResponses: {}, requestState: 's' });
    expect(said.at(-1)?.params).toMatchObject({ name: 't' });
    expect(Object.keys(said.at(-1)?.params ?? {})).toEqual(['name']);
  });

  it('shows the server what its client has in _meta, without what makes a request one of 2026-07-28 (C1-08)', () => {
    const { said } = start({ name: 't', _meta: { 'example.com/kept': 'yes', traceparent: '00-1' } });
    expect(said.at(-1)?.params).toEqual({
      name: 't',
      _meta: { 'example.com/kept': 'yes', traceparent: '00-1' },
    });
  });

  it('reads which capabilities its client declared', () => {
    expect(declaredCapabilities({ request: internalRequest('tools/call', {}) })).toEqual({});
    expect(declaredCapabilities({ request: { jsonrpc: '2.0', id: 1, method: 'a' } })).toEqual({});
  });
});
