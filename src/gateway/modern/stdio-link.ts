import type { JsonRpcError } from '../../mcp/protocol.ts';
import { type AuthInfo, accountKeyPrefix, principalKey } from '../../oauth/auth-info.ts';
import { backendError } from '../backends/backend-errors.ts';
import type { Places } from '../backends/places.ts';
import type { Restarts } from '../backends/restarts.ts';
import type { StdioProcess } from '../backends/stdio-process.ts';
import type { ModernHearing, ModernLink } from './modern-link.ts';
import { type GivenProcess, ModernProcess } from './modern-process.ts';

/** Parts of the way to a program. */
export interface StdioLinkOptions {
  /** Name of the backend. */
  name: string;
  /** Sharing of a process; with `session` the requests of one account with one client share one. */
  sharing: 'session' | 'account' | 'shared';
  startMs: number;
  /** Milliseconds that an unused process is kept. */
  idleMs: number;
  /** See `ModernProcessOptions`. */
  pingMs: number;
  pings: { isAnswered: boolean };
  places: Places;
  restarts: Restarts;
  /**
   * Returns a process that has refused `initialize`, and has its place no more, of those who share it with a caller.
   */
  takeOver(caller: AuthInfo | undefined): StdioProcess | undefined;
  /** Starts a process for a caller, or for everybody; or says why this caller gets none. */
  launch(caller: AuthInfo | undefined): Promise<StdioProcess | { error: JsonRpcError }>;
  nowMs: () => number;
}

/** The way to a program. */
export interface StdioLink extends ModernLink {
  /**
   * Hands over the process of a caller, or of everybody, that does not speak 2026-07-28, or has not responded for some
   * milliseconds; see {@link ModernProcess.giveAway}.
   */
  giveAway(caller: AuthInfo | undefined, afterMs: number): GivenProcess | undefined;
}

/**
 * Creates the way to a program that speaks 2026-07-28 over its standard input and output.
 * @see MCP 2026-07-28 transports "stdio" (B1-08)
 */
export function createStdioLink(options: StdioLinkOptions): StdioLink {
  const { name, sharing, launch, takeOver } = options;
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
      takeOver: () => takeOver(launchedFor),
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
      return processFor(caller.authInfo).send(request, {
        notified: (notification) => hearing.notified(notification),
        answered(answer) {
          isKnown = true;
          hearing.answered(answer);
        },
        failed: (failure) => hearing.failed(failure),
      });
    },
    giveAway: (caller, afterMs) => processes.get(keyOf(caller))?.giveAway(afterMs),
    renew(owner) {
      const account = accountKeyPrefix(owner);
      for (const process of [...processes.values()]) if (process.account === account) process.startAnew();
    },
    async close() {
      isClosed = true;
      await Promise.all([...processes.values()].map((process) => process.close()));
    },
  };
}

/**
 * Names those who share the processes of a caller.
 * @param caller absent if they are of everybody
 */
export function sharerKey(sharing: StdioLinkOptions['sharing'], caller: AuthInfo | undefined): string {
  if (sharing === 'shared' || !caller) return '';
  return sharing === 'account' ? accountKeyPrefix(caller) : principalKey(caller);
}

/** Nothing is started any more for who asks again because it ended. Who asks hears nothing before it has asked. */
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
