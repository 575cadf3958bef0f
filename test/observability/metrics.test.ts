import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Histogram, Registry } from 'prom-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMetrics } from '../../src/observability/metrics.ts';

describe('metrics', () => {
  it('count requests by route and class of status, and events by name', async () => {
    const metrics = createMetrics('1.2.3');
    for (const ms of [1, 20, 400]) metrics.countRequest('/token', 200, ms);
    metrics.countRequest('/token', 404, 1);
    metrics.countEvent('login.failed');
    const { contentType, text } = await metrics.render();
    expect(contentType).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toContain('gatehouse_http_request_duration_seconds_count{route="/token",status="2xx"} 3');
    expect(text).toContain(
      'gatehouse_http_request_duration_seconds_bucket{le="0.025",route="/token",status="2xx"} 2',
    );
    expect(text).toContain('gatehouse_http_request_duration_seconds_count{route="/token",status="4xx"} 1');
    expect(text).toContain('gatehouse_events_total{event="login.failed"} 1');
    expect(text).toContain('gatehouse_build_info{version="1.2.3"} 1');
  });

  it('count calls by route, tool, outcome and kind of the client, with their durations by route', async () => {
    const metrics = createMetrics('1.2.3');
    const call = {
      ...{ route: '/notes', method: 'tools/call', tool: 'search', outcome: 'ok', ms: 40 },
      clientKind: 'registered',
    };
    metrics.countCall(call);
    metrics.countCall({ ...call, outcome: 'tool_error', clientKind: undefined, ms: 3000 });
    metrics.countCall({ ...call, method: 'prompts/get', tool: 'a prompt of any name' });
    const { text } = await metrics.render();
    for (const labels of [
      'tool="search",outcome="ok",client_kind="registered"',
      'tool="search",outcome="tool_error",client_kind="unknown"',
      'tool="prompts/get",outcome="ok",client_kind="registered"',
    ])
      expect(text).toContain(`gatehouse_calls_total{route="/notes",${labels}} 1`);
    expect(text).toContain('gatehouse_call_duration_seconds_bucket{le="0.05",route="/notes",outcome="ok"} 2');
    expect(text).not.toContain('a prompt of any name');
  });

  it('have no series for tools that clients invent, and 200 tools of a route at most (T-113)', async () => {
    const metrics = createMetrics('1.2.3');
    const call = { route: '/notes', method: 'tools/call', clientKind: 'operator', ms: 1 };
    for (let nth = 0; nth < 1000; nth++) {
      metrics.countCall({ ...call, tool: `invented ${nth}`, outcome: 'tool_error' });
      metrics.countCall({ ...call, tool: `tool ${nth}`, outcome: 'ok' });
    }
    metrics.countCall({ ...call, tool: 'x'.repeat(129), outcome: 'ok' });
    metrics.countCall({ ...call, tool: 'tool 0', outcome: 'error' });
    const { text } = await metrics.render();
    expect(text).not.toContain('invented');
    expect(text.match(/^gatehouse_calls_total\{.*outcome="ok",.*\}/gm)).toHaveLength(201);
    for (const sample of [
      'tool="other",outcome="ok",client_kind="operator"} 801',
      'tool="tool 0",outcome="error",client_kind="operator"} 1',
    ])
      expect(text).toContain(`gatehouse_calls_total{route="/notes",${sample}`);
  });

  it('read watched numbers when they are asked for, and tell how the process is', async () => {
    const metrics = createMetrics('1.2.3');
    let sessions = 1;
    metrics.watch('gatehouse_mcp_sessions', 'Sessions held.', () => sessions);
    sessions = 7;
    const { text } = await metrics.render();
    expect(text).toContain('gatehouse_mcp_sessions 7');
    expect(text).toMatch(/nodejs_eventloop_lag_p99_seconds \d/);
    expect(text).toMatch(/process_resident_memory_bytes \d/);
  });

  it('are objects with the same samples as the text', async () => {
    const metrics = createMetrics('1.2.3');
    metrics.countRequest('/token', 200, 20);
    metrics.countEvent('login.failed');
    const collected = await metrics.collect();
    const samples = (name: string) => collected.find((metric) => metric.name === name)?.values;
    expect(samples('gatehouse_events_total')).toMatchObject([
      { value: 1, labels: { event: 'login.failed' } },
    ]);
    const { text } = await metrics.render();
    for (const { metricName, value, labels } of samples('gatehouse_http_request_duration_seconds') ?? []) {
      const { le, ...others } = labels;
      const written = Object.entries({ ...(le !== undefined && { le }), ...others });
      const list = written.map(([name, content]) => `${name}="${content}"`).join(',');
      expect(text).toContain(`${metricName}{${list}} ${value}\n`);
    }
  });

  it('keep the delays of the event loop for the text when they are read as objects', async () => {
    const metrics = createMetrics('1.2.3');
    const delays = monitorEventLoopDelay();
    delays.enable();
    onTestFinished(() => void delays.disable());
    await vi.waitFor(() => expect(delays.count).toBeGreaterThan(0));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    await vi.waitFor(() => expect(delays.max).toBeGreaterThan(2e8));
    const names = (await metrics.collect()).map((metric) => metric.name);
    expect(names).toContain('nodejs_heap_size_used_bytes');
    expect(names.filter((each) => each.startsWith('nodejs_eventloop_lag_'))).toEqual([]);
    const [, longest] = /^nodejs_eventloop_lag_max_seconds (.+)$/m.exec((await metrics.render()).text) ?? [];
    expect(Number(longest)).toBeGreaterThan(0.2);
  });

  it('of two gatehouses in one process do not mix', async () => {
    const [one, two] = [createMetrics('1'), createMetrics('2')];
    one.countEvent('login.failed');
    expect((await two.render()).text).not.toContain('login.failed');
  });
});

const name = 'gatehouse_http_request_duration_seconds';

describe('durations of requests', () => {
  /** The lines of the histogram, in any order. */
  const linesOf = (text: string) =>
    text
      .split('\n')
      .filter((line) => line.includes(name))
      .toSorted();

  it('are told as a histogram of prom-client with the same buckets tells them', async () => {
    const registers = [new Registry()];
    const expected = new Histogram({
      name,
      help: 'Requests by route and class of status, with how long they took. A stream counts when it ends.',
      labelNames: ['route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    });
    const metrics = createMetrics('1');
    for (const seconds of [0, 0.001, 0.0011, 0.003, 0.25, 3, 10, 11, 4000])
      for (const [route, status] of [
        ['/mcp', 200],
        ['/mcp', 299],
        ['/mcp', 503],
        ['/token', 404],
        ['a "quoted" \\ route\n', 204],
      ] as const) {
        metrics.countRequest(route, status, seconds * 1000);
        expected.observe({ route, status: `${Math.floor(status / 100)}xx` }, (seconds * 1000) / 1000);
      }
    expect(linesOf((await metrics.render()).text)).toEqual(linesOf((await registers[0]?.metrics()) ?? ''));
  });

  it('are told if nothing was counted, and as lines that all end', async () => {
    const { text } = await createMetrics('1').render();
    expect(text).toContain(
      `# HELP ${name} Requests by route and class of status, with how long they took. A stream counts when it ends.\n# TYPE ${name} histogram\n`,
    );
  });
});
