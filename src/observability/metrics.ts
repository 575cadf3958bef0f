import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Counts what an installation does, for Prometheus. Nothing in it names a person, a client or a token (T-113, T-194). */
export interface Metrics {
  /**
   * Counts a request that was answered or broke off.
   * @param route one of few names, never a path as it came
   * @param status HTTP status
   * @param ms how long it took, in milliseconds
   */
  countRequest(route: string, status: number, ms: number): void;
  /** Counts an event of the audit log. */
  countEvent(event: string): void;
  /** Counts a request that was refused with 429. @param limit the name of the setting */
  countLimited(limit: string): void;
  /** Counts an answer that its client did not get. @param loss why */
  countLostAnswer(loss: string): void;
  /** Reads a number whenever it is asked for. */
  watch(name: string, help: string, read: () => number): void;
  /** Gives all numbers in the text format of Prometheus, and its media type. */
  render(): Promise<{ contentType: string; text: string }>;
}

/**
 * Creates the metrics of one gatehouse, those of the process among them (event loop, memory, garbage collection).
 * prom-client, because it is the client Prometheus itself names for Node.js.
 * @param version of the program, given as a label of `gatehouse_build_info`
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
