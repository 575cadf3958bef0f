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

/** Request durations by route and class of status: a Prometheus histogram. */
export interface RequestDurations {
  /**
   * Counts a request.
   * @param route one of few names
   * @param status HTTP status
   */
  observe(route: string, status: number, seconds: number): void;
  /** Returns the lines of the histogram in the text format of Prometheus. */
  render(): string;
}

/** Upper bounds of the buckets, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

const name = 'gatehouse_http_request_duration_seconds';
const head = [
  `# HELP ${name} Requests by route and class of status, with how long they took. A stream counts when it ends.`,
  `# TYPE ${name} histogram`,
];

/** Requests of one route and class of status. */
class Series {
  readonly #inBucket = new Array<number>(bounds.length).fill(0);
  #count = 0;
  #sum = 0;

  observe(seconds: number): void {
    this.#count++;
    this.#sum += seconds;
    const bucket = bounds.findIndex((bound) => seconds <= bound);
    if (bucket !== -1) this.#inBucket[bucket] = (this.#inBucket[bucket] ?? 0) + 1;
  }

  render(labels: string): string[] {
    let below = 0;
    const buckets = bounds.map((bound, at) => {
      below += this.#inBucket[at] ?? 0;
      return `${name}_bucket{le="${bound}",${labels}} ${below}`;
    });
    return [
      ...buckets,
      `${name}_bucket{le="+Inf",${labels}} ${this.#count}`,
      `${name}_sum{${labels}} ${this.#sum}`,
      `${name}_count{${labels}} ${this.#count}`,
    ];
  }
}

/** `2xx` for class 2: classes keep the number of series small. */
function labelsOf(route: string, statusClass: number): string {
  const escaped = route.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
  return `route="${escaped}",status="${statusClass}xx"`;
}

/**
 * Creates the histogram. Every request is counted in it, and prom-client validates and hashes labels for each
 * observation, which costs ten times as much as the count.
 * @see Prometheus "Text-based format"
 */
export function createRequestDurations(): RequestDurations {
  const series = new Map<string, Series[]>();

  return {
    observe(route, status, seconds) {
      const statusClass = Math.floor(status / 100);
      let ofRoute = series.get(route);
      if (!ofRoute) {
        ofRoute = [];
        series.set(route, ofRoute);
      }
      let ofClass = ofRoute[statusClass];
      if (!ofClass) {
        ofClass = new Series();
        ofRoute[statusClass] = ofClass;
      }
      ofClass.observe(seconds);
    },
    render() {
      const lines = [...series].flatMap(([route, ofRoute]) =>
        ofRoute.flatMap((ofClass, statusClass) => ofClass.render(labelsOf(route, statusClass))),
      );
      return `${[...head, ...lines].join('\n')}\n`;
    },
  };
}
