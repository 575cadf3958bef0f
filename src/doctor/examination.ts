import { lookup } from 'node:dns/promises';
import { type Exchange, type Fetch, recordExchanges } from '../client/index.ts';
import { isLocalAddress } from '../client/url-policy.ts';
import type { LoginMeans, Probe, Subject } from './subject.ts';

/** Target and options of an examination. */
export interface ExaminationOptions {
  /** URL of the MCP server as the user gave it. */
  url: string;
  fetch: Fetch;
  /** Epoch seconds. */
  now: () => number;
  /** Allows registrations and logins. */
  active?: boolean;
  /** Options of logins; without them, checks that need a login are `unknown`. */
  login?: LoginMeans;
  /** Maximum time for one response, in milliseconds. */
  timeoutMs?: number;
}

/** A subject for one check, which records the exchanges that the check used. */
interface View {
  subject: Subject;
  /** Numbers of the exchanges behind the requested facts. */
  seen: ReadonlySet<number>;
}

/** State of one examination. */
export interface Examination {
  /** All exchanges so far. */
  exchanges: readonly Exchange[];
  /** Creates a view for one check. */
  look(): View;
  /** Runs the tasks for the end, the latest first. A task that fails or takes too long does not stop the others. */
  finish(): Promise<void>;
}

/** Maximum time for one task of the end, in milliseconds. */
const finishTaskMs = 10_000;

/** Resolves when the work is done or the time is over. The timer does not keep the process alive. */
async function within(work: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work.then(() => undefined).catch(() => undefined), late]);
  clearTimeout(timer);
}

/** Opens the examination of a server, with one record of exchanges, and each fact determined once. */
export function openExamination(options: ExaminationOptions): Examination {
  const record = recordExchanges(guardAddresses(options.fetch, options.url));
  const facts = new Map<Probe<unknown>, Promise<{ value: unknown; seen: ReadonlySet<number> }>>();
  const tasks: (() => Promise<unknown>)[] = [];

  const look = (): View & { seen: Set<number> } => {
    const seen = new Set<number>();
    const fetch: Fetch = (url, init) => {
      const answer = record.fetch(url, init);
      seen.add(record.exchanges.length);
      return answer;
    };
    const subject: Subject = {
      url: options.url,
      context: {
        fetch,
        now: options.now,
        ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
      },
      active: options.active ?? false,
      ...(options.login === undefined ? {} : { login: options.login }),
      exchanges: record.exchanges,
      async fact<T>(probe: Probe<T>): Promise<T> {
        let fact = facts.get(probe);
        if (!fact) {
          const inner = look();
          fact = probe(inner.subject).then((value) => ({ value, seen: inner.seen }));
          facts.set(probe, fact);
        }
        const found = await fact;
        for (const number of found.seen) seen.add(number);
        return found.value as T;
      },
      atEnd(task) {
        tasks.unshift(task);
      },
    };
    return { subject, seen };
  };

  return {
    exchanges: record.exchanges,
    look,
    async finish() {
      for (const task of tasks.splice(0)) await within(Promise.resolve().then(task), finishTaskMs);
    },
  };
}

/** Returns the addresses of a host as programs on this machine get them; rejects if there are none. */
export type LookUp = (host: string) => Promise<readonly string[]>;

const lookUpHere: LookUp = async (host) =>
  (await lookup(host, { all: true })).map(({ address, family }) => (family === 6 ? `[${address}]` : address));

/**
 * A fetch that a public server cannot lead into the local network by a name of its own that resolves there. Literal
 * addresses and local names are judged before, see `isLocalAddress`.
 * @param fetch that sends
 * @param serverUrl of the server under examination: if it is in the local network itself, it may name others there
 * @param lookUp gives the addresses of a host
 * @returns a fetch that rejects, without a request, where a host of others has a local address
 * @see RFC 9728 section 7.7 (T-185)
 */
export function guardAddresses(fetch: Fetch, serverUrl: string, lookUp: LookUp = lookUpHere): Fetch {
  const server = URL.parse(serverUrl)?.hostname ?? '';
  const known = new Map<string, Promise<string | undefined>>();
  /** Returns the local address of a host, if it has one. */
  const localOf = (host: string): Promise<string | undefined> => {
    const found =
      known.get(host) ??
      (isLocalAddress(host)
        ? Promise.resolve(host)
        : lookUp(host).then(
            (addresses) => addresses.find(isLocalAddress),
            () => undefined,
          ));
    known.set(host, found);
    return found;
  };
  return async (url, init) => {
    const host = new URL(url).hostname;
    if (host === server || (await localOf(server)) !== undefined) return fetch(url, init);
    const local = await localOf(host);
    if (local === undefined) return fetch(url, init);
    throw new TypeError(
      `not asked: ${host} is ${local}, in the local network, which the server is not part of`,
    );
  };
}
