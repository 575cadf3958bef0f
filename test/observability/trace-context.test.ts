import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/observability/logger.ts';
import { formatTraceContext, parseTraceContext, runTraced } from '../../src/observability/trace-context.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const valid = `00-${traceId}-${spanId}-01`;

describe('A trace context', () => {
  it('is read with its ids, its flag and its state (C1-08)', () => {
    expect(parseTraceContext(valid, 'a=b')).toEqual({
      ...{ traceId, spanId, isSampled: true, traceparent: valid },
      tracestate: 'a=b',
    });
    expect(parseTraceContext(`00-${traceId}-${spanId}-02`, undefined)).toMatchObject({ isSampled: false });
  });

  it('of a later version is read as far as it is known, and kept as it was written', () => {
    const later = `01-${traceId}-${spanId}-01-more`;
    expect(parseTraceContext(later, undefined)).toMatchObject({ traceId, spanId, traceparent: later });
  });

  it.each([
    undefined,
    7,
    '',
    valid.toUpperCase(),
    `${valid}-more`,
    `${valid}, ${valid}`,
    `${valid}\r\nx: y`,
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${spanId}`,
    `01-${traceId}-${spanId}-01-${'x'.repeat(600)}`,
    `01-${traceId}-${spanId}-01-\u0000`,
  ])('is not read from %j', (traceparent) => {
    expect(parseTraceContext(traceparent, 'a=b')).toBeUndefined();
  });

  it.each([7, '', 'a=\r\nb', 'a'.repeat(600)])('loses the malformed state %j alone', (tracestate) => {
    expect(parseTraceContext(valid, tracestate)).not.toHaveProperty('tracestate');
  });

  it('is written as it is read', () => {
    const written = formatTraceContext({ traceId, spanId, isSampled: true, tracestate: 'a=b' });
    expect(written).toEqual(parseTraceContext(valid, 'a=b'));
    expect(formatTraceContext({ traceId, spanId, isSampled: false }).traceparent).toMatch(/-00$/);
  });
});

describe('A line of the log', () => {
  it('names the trace of the request that runs, and no other', async () => {
    const lines: Record<string, unknown>[] = [];
    const logger = createLogger('info', (line) => lines.push(JSON.parse(line)));
    const request = { traceId, spanId, isOver: false };
    await runTraced(request, async () => {
      await turn();
      logger.info('during');
      request.isOver = true;
      logger.info('after its response');
    });
    logger.info({ traceId: 'own' }, 'outside');
    expect(lines[0]).toMatchObject({ msg: 'during', traceId, spanId });
    expect(lines[1]).not.toHaveProperty('traceId');
    expect(lines[2]).toMatchObject({ traceId: 'own' });
  });
});
