import { describe, expect, it, vi } from 'vitest';
import type { Reply } from '../../../src/mcp/http/exchange.ts';
import { Deadlines } from '../../../src/mcp/http/limits.ts';
import { internalRequest } from '../../../src/mcp/modern/internal-call.ts';
import { HttpCall } from '../../../src/mcp/modern/streamable-http.ts';
import { createCaller } from '../support/modern-calls.ts';

function start() {
  const stream = {
    isOpen: true,
    send: vi.fn(),
    park: () => () => undefined,
    retry: vi.fn(),
    end: vi.fn(),
    onClose: vi.fn(),
  };
  let close = (): void => {};
  const reply = {
    isBegun: false,
    park: () => () => undefined,
    isClosed: false,
    json: vi.fn(),
    empty: vi.fn(),
    stream: vi.fn(() => stream),
    onClose: (callback: () => void) => {
      close = callback;
    },
  } satisfies Reply;
  const ended = vi.fn();
  const cancel = vi.fn();
  const options = {
    late: new Deadlines(10),
    passes: () => true,
    finish: (answer: Parameters<HttpCall['answer']>[0]) => answer,
    ended,
  };
  const call = new HttpCall(internalRequest('tools/call', {}), { caller: createCaller(), reply }, options);
  call.cancelWith(cancel);
  return { call, reply, stream, ended, cancel, leave: () => close() };
}

const result = { status: 200, result: { a: 1 } } as const;

describe('a call over HTTP', () => {
  it('is answered once, and ends once', () => {
    const { call, reply, ended, cancel, leave } = start();
    call.answer(result);
    call.answer({ status: 200, error: { code: 1, message: 'late' } });
    leave();
    expect(reply.json.mock.calls).toEqual([[200, { jsonrpc: '2.0', id: 0, result: { a: 1 } }, undefined]]);
    expect([ended.mock.calls.length, cancel.mock.calls.length]).toEqual([1, 0]);
  });

  it('is cancelled when its client is gone, and hears nothing more (B5-14)', () => {
    const { call, reply, stream, ended, cancel, leave } = start();
    leave();
    call.notify({ jsonrpc: '2.0', method: 'notifications/progress' });
    call.answer(result);
    expect([ended.mock.calls.length, cancel.mock.calls.length]).toEqual([1, 1]);
    expect([reply.json, reply.stream, stream.send].map((sent) => sent.mock.calls.length)).toEqual([0, 0, 0]);
  });

  it('ends its stream with the answer (B5-13)', async () => {
    const { call, reply, stream } = start();
    await vi.waitFor(() => expect(reply.stream).toHaveBeenCalledOnce());
    call.answer({ status: 400, error: { code: -32021, message: 'no' } });
    expect(JSON.parse(stream.send.mock.calls[0]?.[0])).toMatchObject({ id: 0, error: { code: -32021 } });
    expect(stream.end).toHaveBeenCalledOnce();
    expect(reply.json).not.toHaveBeenCalled();
  });
});
