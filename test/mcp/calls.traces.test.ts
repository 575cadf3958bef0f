import { describe, expect, it } from 'vitest';
import { settleTraces, traceOf, withTrace } from '../../src/mcp/calls.ts';
import type { Message } from '../../src/mcp/protocol.ts';
import { formatTraceContext } from '../../src/observability/trace-context.ts';

const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const traceparent = `00-${ids.traceId}-${ids.spanId}-01`;
const ofHttp = `00-${ids.traceId}-${'1'.repeat(16)}-01`;

const call = (_meta?: Record<string, unknown>): Message => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name: 'look', ...(_meta && { _meta }) },
});

describe('The trace of a request', () => {
  it('is that of its _meta, which the HTTP header does not replace (C1-08)', () => {
    const message = call({ traceparent, tracestate: 'a=b', baggage: 'c=d', progressToken: 7 });
    const before = structuredClone(message);
    const traces = settleTraces({ traceparent: ofHttp, tracestate: 'x=y' }, [message]);
    expect(traces.get(message)).toMatchObject(ids);
    expect(message).toEqual(before);
  });

  it('is that of the HTTP headers if its _meta has none, and is passed on in _meta', () => {
    const message = call();
    const traces = settleTraces({ traceparent: ofHttp, tracestate: 'x=y', baggage: 'c=d' }, [message]);
    expect(traces.get(message)).toMatchObject({ spanId: '1'.repeat(16) });
    expect(message.params).toEqual({
      name: 'look',
      _meta: { traceparent: ofHttp, tracestate: 'x=y' },
    });
  });

  it('is not passed on if it is malformed', () => {
    const message = call({ traceparent: 'nonsense', tracestate: 'a=b', kept: true });
    expect(settleTraces({}, [message]).size).toBe(0);
    expect(message.params?._meta).toEqual({ kept: true });
    const other = call({ traceparent: 'nonsense', tracestate: 'a=b', kept: true });
    settleTraces({ traceparent: ofHttp }, [other]);
    expect(other.params?._meta).toEqual({ kept: true, traceparent: ofHttp });
    const stateless = call({ traceparent, tracestate: 'a=\n' });
    settleTraces({}, [stateless]);
    expect(stateless.params?._meta).toEqual({ traceparent });
  });

  it('adds nothing to a notification and to the params of a session', () => {
    const notification: Message = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const initialize: Message = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { capabilities: {} } };
    const traces = settleTraces({ traceparent: ofHttp }, [notification, initialize]);
    expect(traces.get(initialize)).toMatchObject({ spanId: '1'.repeat(16) });
    expect(notification).not.toHaveProperty('params');
    expect(initialize.params).toEqual({ capabilities: {} });
  });

  it.each([
    ['a text', 'traceparent'],
    ['null', null],
    ['a list', [1]],
    ['a number', 7],
  ])('is not looked for in a _meta or params that are %s, and changes neither', (_what, value) => {
    const inMeta = { ...call(), params: { name: 'look', _meta: value } } as unknown as Message;
    const inParams = { ...call(), params: value } as unknown as Message;
    const before = structuredClone([inMeta, inParams]);
    for (const headers of [{}, { traceparent: ofHttp }])
      expect(settleTraces(headers, [inMeta, inParams]).size).toBe(0);
    expect([inMeta, inParams]).toEqual(before);
  });

  it('leaves a message without one alone', () => {
    const message = call({ progressToken: 7 });
    const { params } = message;
    settleTraces({ traceparent: 'nonsense' }, [message]);
    expect(message.params).toBe(params);
    expect(traceOf(message)).toBeUndefined();
  });

  it('can be replaced, with its state', () => {
    const replaced = withTrace(call({ traceparent, tracestate: 'a=b', kept: true }), {
      ...formatTraceContext({ ...ids, isSampled: false }),
    });
    expect(replaced.params?._meta).toEqual({ kept: true, traceparent: `${traceparent.slice(0, -1)}0` });
  });
});
