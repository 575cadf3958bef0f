/** How long requests took, by route and class of status: a histogram of Prometheus. */
export interface RequestDurations {
  /**
   * Counts a request.
   * @param route one of few names
   * @param status HTTP status
   */
  observe(route: string, status: number, seconds: number): void;
  /** Gives the lines of the histogram in the text format of Prometheus. */
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

/** `2xx` for class 2: a class tells enough, and keeps the number of series small. */
function labelsOf(route: string, statusClass: number): string {
  const escaped = route.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
  return `route="${escaped}",status="${statusClass}xx"`;
}

/**
 * Creates the histogram. Every request is counted in it, and prom-client's own checks and hashes its labels anew for
 * each, which costs ten times what the count does.
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
