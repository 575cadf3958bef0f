import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** A call of a tool, prompt or resource that is over. */
export interface CountedCall {
  /** Path of the route below the public URL; `/` for the public URL itself. */
  route: string;
  method: string;
  /** Name of the tool, as the client wrote it. */
  tool: string | undefined;
  outcome: string;
  /** Origin of the client, one of few words; undefined if it is not known. */
  clientKind: string | undefined;
  ms: number;
}

/** A metric with its samples, as prom-client returns it. */
export interface CollectedMetric {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  /** A histogram has samples of several names: `…_bucket` with the upper bound as label `le`, `…_sum` and `…_count`. */
  values: readonly { value: number; labels: Record<string, string | number>; metricName?: string }[];
}

/** Most tools of a route with series of their own. */
const maxTools = 200;

/** Longest name of a tool with series of its own, in characters. */
const maxToolLength = 128;

/** Metrics of an installation for Prometheus. Nothing in them names a user, a client or a token (T-113, T-194). */
export interface Metrics {
  /**
   * Counts a completed or aborted request.
   * @param route one of few names, never a path as received
   * @param status HTTP status
   * @param ms duration in milliseconds
   */
  countRequest(route: string, status: number, ms: number): void;
  /** Counts an event of the audit log. */
  countEvent(event: string): void;
  /**
   * Counts a request rejected with 429.
   * @param limit name of the setting
   */
  countLimited(limit: string): void;
  /**
   * Counts a response that its client did not receive.
   * @param loss the reason
   */
  countLostAnswer(loss: string): void;
  /**
   * Counts a call that is over. A tool has series of its own from its first success on, and 200 tools of a route at most:
   * clients may call any name. The others are `other`, and methods without a tool have their own name.
   */
  countCall(call: CountedCall): void;
  /** Registers a number that is read at each scrape. */
  watch(name: string, help: string, read: () => number): void;
  /** Returns all metrics in the text format of Prometheus, with its media type. */
  render(): Promise<{ contentType: string; text: string }>;
  /**
   * Returns the metrics as objects, without the delays of the event loop: prom-client resets them when it reads them,
   * so Prometheus would miss delays.
   */
  collect(): Promise<CollectedMetric[]>;
}

/**
 * Creates the metrics of one gatehouse, including those of the process (event loop, memory, garbage collection). It
 * uses prom-client, the client that Prometheus names for Node.js.
 * @param version of the program, a label of `gatehouse_build_info`
 */
export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'gatehouse_http_request_duration_seconds',
    help: 'Requests by route and class of status, with how long they took. A stream counts when it ends.',
    labelNames: ['route', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  });
  const events = new Counter({
    name: 'gatehouse_events_total',
    help: 'Events of the audit log by name.',
    labelNames: ['event'] as const,
    registers,
  });
  const limited = new Counter({
    name: 'gatehouse_limited_requests_total',
    help: 'Requests refused because a limit was reached, by the name of the limit.',
    labelNames: ['limit'] as const,
    registers,
  });
  const lost = new Counter({
    name: 'gatehouse_lost_answers_total',
    help: 'Answers that their clients did not take or that there was no room for, by why.',
    labelNames: ['loss'] as const,
    registers,
  });
  const calls = new Counter({
    name: 'gatehouse_calls_total',
    help: 'Calls of tools, prompts and resources by route, tool, outcome and kind of the client.',
    labelNames: ['route', 'tool', 'outcome', 'client_kind'] as const,
    registers,
  });
  const callDurations = new Histogram({
    name: 'gatehouse_call_duration_seconds',
    help: 'How long calls took, by route and outcome.',
    labelNames: ['route', 'outcome'] as const,
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300],
    registers,
  });
  const toolsOfRoutes = new Map<string, Set<string>>();
  const toolLabel = ({ route, method, tool, outcome }: CountedCall): string => {
    if (method !== 'tools/call') return method;
    const known = toolsOfRoutes.get(route) ?? new Set();
    toolsOfRoutes.set(route, known);
    if (tool === undefined || tool.length > maxToolLength) return 'other';
    if (outcome === 'ok' && known.size < maxTools) known.add(tool);
    return known.has(tool) ? tool : 'other';
  };
  new Gauge({
    name: 'gatehouse_build_info',
    help: 'Always 1; the version is a label.',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1);

  return {
    // A class of status tells enough, and keeps the number of series small.
    countRequest: (route, status, ms) =>
      requests.observe({ route, status: `${Math.floor(status / 100)}xx` }, ms / 1000),
    countEvent: (event) => events.inc({ event }),
    countLimited: (limit) => limited.inc({ limit }),
    countLostAnswer: (loss) => lost.inc({ loss }),
    countCall(call) {
      const { route, outcome, clientKind = 'unknown', ms } = call;
      calls.inc({ route, tool: toolLabel(call), outcome, client_kind: clientKind });
      callDurations.observe({ route, outcome }, ms / 1000);
    },
    watch(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
    render: async () => ({
      contentType: registry.contentType,
      text: await registry.metrics(),
    }),
    async collect() {
      const names = registry.getMetricsAsArray().map(({ name }) => name);
      const collected = await Promise.all(
        names
          .filter((name) => !name.startsWith('nodejs_eventloop_lag_'))
          .map((name) => registry.getSingleMetric(name)?.get()),
      );
      // The types of prom-client have an enum in place of the words, and leave out the names of samples.
      return collected as unknown as CollectedMetric[];
    },
  };
}
