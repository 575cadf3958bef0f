import type { JsonRpcError, RequestMessage } from '../../../mcp/protocol.ts';
import { type AuthInfo, accountKeyPrefix, principalKey } from '../../../oauth/auth-info.ts';
import type { ModernHearing, ModernLink } from '../../modern/modern-link.ts';
import { backendError } from '../backend-errors.ts';
import type { Restarts } from '../restarts.ts';
import { type AdoptableProcess, ModernProcess } from './modern-process.ts';
import type { ProcessPool } from './process-pool.ts';
import type { StdioProcess } from './stdio-process.ts';

/** Options of the link to a program. */
interface StdioLinkOptions {
  /** Name of the backend. */
  name: string;
  /** Sharing of a process; with `session` the requests of one account with one client share one. */
  sharing: 'session' | 'account' | 'shared';
  startMs: number;
  /** See `SupervisionOptions`. */
  pingMs: number;
  pings: { isAnswered: boolean };
  pool: ProcessPool;
  restarts: Restarts;
  /** Returns a process that has rejected `initialize` and left its place, and that a caller may share. */
  adopt(caller: AuthInfo | undefined): StdioProcess | undefined;
  /** Starts a process for a caller, or for everybody; or returns the error for a caller that gets none. */
  launch(caller: AuthInfo | undefined): Promise<StdioProcess | { error: JsonRpcError }>;
  /** Adds an assertion about the caller to a request; absent if the program gets none. */
  stamp?: (request: RequestMessage, caller: AuthInfo) => RequestMessage;
  nowMs: () => number;
}

/** The link to a program of 2026-07-28. */
interface StdioLink extends ModernLink {
  /**
   * Releases the process of a caller, or of everybody, that does not speak 2026-07-28, or has not responded for some
   * milliseconds; see {@link ModernProcess.release}.
   */
  release(caller: AuthInfo | undefined, afterMs: number): AdoptableProcess | undefined;
}

/**
 * Creates the link to a program that speaks 2026-07-28 over its standard input and output.
 * @see MCP 2026-07-28 transports "stdio" (B1-08)
 */
export function createStdioLink(options: StdioLinkOptions): StdioLink {
  const { name, sharing, launch, adopt } = options;
  const processes = new Map<string, ModernProcess>();
  let isKnown = false;
  let isClosed = false;

  const keyOf = (caller: AuthInfo | undefined): string => sharerKey(sharing, caller);
  const processFor = (caller: AuthInfo): ModernProcess => {
    const key = keyOf(caller);
    const launchedFor = sharing === 'shared' ? undefined : caller;
    const known = processes.get(key);
    if (known) return known;
    const made = new ModernProcess(launchedFor ? accountKeyPrefix(launchedFor) : '', {
      ...options,
      servesEverybody: sharing === 'shared',
      adopt: () => adopt(launchedFor),
      launch: () => launch(launchedFor),
      isKnown: () => isKnown,
      ended: () => {
        if (processes.get(key) === made) processes.delete(key);
      },
    });
    processes.set(key, made);
    return made;
  };

  return {
    isHttp: false,
    send(request, { caller }, hearing) {
      if (isClosed) return refuse(name, hearing);
      const { authInfo } = caller;
      return processFor(authInfo).send(options.stamp?.(request, authInfo) ?? request, {
        notified: (notification) => hearing.notified(notification),
        answered(answer) {
          isKnown = true;
          hearing.answered(answer);
        },
        failed: (failure) => hearing.failed(failure),
      });
    },
    release: (caller, afterMs) => processes.get(keyOf(caller))?.release(afterMs),
    renew(owner) {
      const account = accountKeyPrefix(owner);
      for (const process of [...processes.values()]) if (process.account === account) process.replace();
    },
    async close() {
      isClosed = true;
      await Promise.all([...processes.values()].map((process) => process.close()));
    },
  };
}

/**
 * Returns the key of the callers that share the processes of one caller.
 * @param caller absent if everybody shares them
 */
export function sharerKey(sharing: StdioLinkOptions['sharing'], caller: AuthInfo | undefined): string {
  if (sharing === 'shared' || !caller) return '';
  return sharing === 'account' ? accountKeyPrefix(caller) : principalKey(caller);
}

/** Rejects a request after the link was closed: asynchronously, like the response of a server. */
function refuse(name: string, hearing: ModernHearing): () => void {
  let isOver = false;
  const error = backendError('backend_ended', name);
  queueMicrotask(() => {
    if (!isOver) hearing.failed({ error, isBroken: false, isOther: false });
  });
  return () => {
    isOver = true;
  };
}
