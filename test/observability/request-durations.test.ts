import { Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createRequestDurations } from '../../src/observability/request-durations.ts';

const name = 'gatehouse_http_request_duration_seconds';

describe('durations of requests', () => {
  it('are told as the histogram of prom-client tells them', async () => {
    const registers = [new Registry()];
    const theirs = new Histogram({
      name,
      help: 'Requests by route and class of status, with how long they took. A stream counts when it ends.',
      labelNames: ['route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    });
    const ours = createRequestDurations();
    for (const seconds of [0, 0.001, 0.0011, 0.003, 0.25, 3, 10, 11, 4000])
      for (const [route, status] of [
        ['/mcp', 200],
        ['/mcp', 299],
        ['/mcp', 503],
        ['/token', 404],
        ['a "quoted" \\ route\n', 204],
      ] as const) {
        ours.observe(route, status, seconds);
        theirs.observe({ route, status: `${Math.floor(status / 100)}xx` }, seconds);
      }
    const lines = (text: string) => text.split('\n').toSorted();
    expect(lines(ours.render())).toEqual(lines((await registers[0]?.metrics()) ?? ''));
  });

  it('are told where nothing was counted, and as lines that all end', () => {
    expect(createRequestDurations().render()).toBe(
      `# HELP ${name} Requests by route and class of status, with how long they took. A stream counts when it ends.\n# TYPE ${name} histogram\n`,
    );
  });
});
