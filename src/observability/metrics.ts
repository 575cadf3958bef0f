import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

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
  /** Registers a number that is read at each scrape. */
  watch(name: string, help: string, read: () => number): void;
  /** Returns all metrics in the text format of Prometheus, with its media type. */
  render(): Promise<{ contentType: string; text: string }>;
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
  };
}
