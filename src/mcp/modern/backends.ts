import { McpServer, Server } from '@modelcontextprotocol/server';
import { allEnded } from '../../collections/closing.ts';
import type { Logger } from '../../observability/logger.ts';
import { Deadlines } from '../http/limits.ts';
import { type Answer, type Backend, type Call, type Caller, isElsewhere, type Message } from '../protocol.ts';
import { StartProgress } from '../sdk/start-progress.ts';
import { failedInside } from './error-answers.ts';
import { createServerPerRequest, type ServerPerRequestOptions } from './server-per-request.ts';
import { connectSharedServer } from './shared-server.ts';

/** Backends that serve requests now. */
export interface Backends {
  /**
   * @param caller the sender of the request
   * @throws errors of `ServerSource.create`
   */
  current(caller: Caller): Promise<Backend>;
  /**
   * Like `current`. If the backend is not ready soon, a pending backend is returned, which sends progress to the
   * client.
   */
  currentSoon(caller: Caller): Promise<Backend>;
  close(): Promise<void>;
}

/** Options of the backends for 2026-07-28. */
export type BackendsOptions = ServerPerRequestOptions & Pick<PendingBackendOptions, 'check'>;

/**
 * Chooses the backend: the source's own; else one server for all callers if the source has one and it lists 2026-07-28;
 * else a server for each request; else `older`, for servers of older revisions. A server that ended is made again.
 */
export function createBackends(options: BackendsOptions): Backends {
  const { source, publish, older, logger } = options;
  const each = createServerPerRequest(options);
  let current: Promise<Backend> | undefined;

  const connect = async (): Promise<Backend> => {
    const server = await source.create({ era: 'modern' });
    if (!(server instanceof McpServer || server instanceof Server)) {
      await server.close();
      return older;
    }
    const onEnd = (): void => {
      current = undefined;
    };
    const backend = await connectSharedServer({ server, publish, onEnd, logger });
    if (backend) return backend;
    logger.warn(
      'the MCP server is made anew for each request of 2026-07-28: list that revision in its option supportedProtocolVersions to have one server answer all',
    );
    return each;
  };
  const choose = (): Promise<Backend> => {
    if (source.sharing === 'each') return Promise.resolve(each);
    if (source.sharing === 'single' || isElsewhere(source)) return Promise.resolve(older);
    return connect();
  };

  const find = async (caller: Caller): Promise<Backend> => {
    const brought = source.modern && (await source.modern(caller));
    if (brought) return brought;
    current ??= choose().catch((error: unknown) => {
      current = undefined;
      throw error;
    });
    return await current;
  };
  const slow = new Deadlines(soonMs);

  return {
    current: find,
    currentSoon(caller) {
      const found = find(caller);
      // Servers in this process need no start.
      if (!source.modern) return found;
      return new Promise((resolve, reject) => {
        const forget = slow.set(() => resolve(createPendingBackend(found, options)));
        found.then(resolve, reject).finally(forget);
      });
    },
    async close() {
      const last = await current?.catch(() => undefined);
      await allEnded([last?.close(), each.close(), older.close()]);
    },
  };
}

/** Time after which a request gets a pending backend, in milliseconds. */
const soonMs = 500;

/** Options of a pending backend. */
export interface PendingBackendOptions {
  /** Returns the error for a fault that only the started backend can find. */
  check(backend: Backend, call: Call): Promise<Answer | undefined>;
  logger: Logger;
}

/**
 * Creates a backend for the time until the real one is chosen. It takes requests at once, sends their clients progress
 * about the start, and passes the requests on.
 * @see MCP 2026-07-28 "Progress"
 */
export function createPendingBackend(
  coming: Promise<Backend>,
  { check, logger }: PendingBackendOptions,
): Backend {
  const begin = (call: Call): (() => void) => {
    let isCancelled = false;
    let cancel = (): void => {
      isCancelled = true;
    };
    const handOver = async (): Promise<void> => {
      const tell = (progress: Message): void => call.notify(progress);
      const waiting = new StartProgress('The MCP server is starting.', tell, soonMs);
      waiting.add(call.request);
      const backend = await coming.finally(() => waiting.stop());
      const wrong = isCancelled ? undefined : await check(backend, call);
      if (isCancelled) return;
      if (wrong) call.answer(wrong);
      else cancel = backend.begin(call);
    };
    handOver().catch((error: unknown) => {
      logger.error({ err: error }, 'an MCP request failed');
      call.answer(failedInside);
    });
    return () => cancel();
  };
  return {
    checksEnvelope: 'nothing',
    begin,
    notify(notification, caller) {
      coming.then(
        (backend) => backend.notify(notification, caller),
        () => {},
      );
    },
    discover: async (caller) => (await coming).discover(caller),
    close: async () => {},
  };
}
