import { describe, expect, it } from 'vitest';
import { readNumber, reportFailures, shutDown } from '../../src/telemetry/otlp.ts';

describe('A number of the environment', () => {
  it.each([
    ['20', 20],
    ['', 5000],
    ['0', 5000],
    ['-3', 5000],
    ['1.5', 5000],
    ['soon', 5000],
    [undefined, 5000],
  ])('of %j is %i', (value, expected) => {
    expect(readNumber({ OTEL_BSP_SCHEDULE_DELAY: value }, 'OTEL_BSP_SCHEDULE_DELAY', 5000)).toBe(expected);
  });
});

describe('An exporter', () => {
  it('logs the first of several failures, without the text of the error, and the first success after them', () => {
    const outcomes = [{}, fault(503), fault(503), {}, {}, fault('ECONNREFUSED')];
    const exporter = {
      export: (_items: string[], done: (outcome: { error?: Error }) => void) => done(outcomes.shift() ?? {}),
    };
    const lines: unknown[] = [];
    const log = (...line: unknown[]): void => void lines.push(line);
    reportFailures(exporter, 'spans', { warn: log, info: log });
    const done: unknown[] = [];
    for (let nth = 0; nth < 6; nth++) exporter.export(['a span'], (outcome) => done.push(outcome));
    expect(done).toHaveLength(6);
    expect(lines).toEqual([
      [{ status: 503 }, 'spans are lost: the OTLP endpoint does not take them'],
      ['the OTLP endpoint takes spans again'],
      [{ errorCode: 'ECONNREFUSED' }, 'spans are lost: the OTLP endpoint does not take them'],
    ]);
  });
});

describe('The end of a signal', () => {
  it('waits at most two seconds for an endpoint that does not respond', async () => {
    const begun = performance.now();
    await shutDown({ shutdown: () => new Promise(() => undefined) });
    expect(performance.now() - begun).toBeGreaterThan(1900);
    await shutDown({ shutdown: () => Promise.reject(new Error('it failed')) });
  });
});

function fault(code: unknown): { error: Error } {
  return { error: Object.assign(new Error('a secret response'), { code }) };
}
