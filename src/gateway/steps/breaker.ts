import type { RequestMessage } from '../../mcp/protocol.ts';
import { accountKeyPrefix } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import { backendError } from '../backends/backend-errors.ts';
import { Circuit, type CircuitLimits } from './circuit.ts';
import { lists } from './listed.ts';
import type { Answer, Step } from './step.ts';

/** Options of the breaker. */
export interface BreakerOptions {
  /** Name of the server. */
  name: string;
  /** True if one server serves everybody, and so fails for everybody; false if each account has a process. */
  isOneForAll: boolean;
  /** True if starts depend on what each person brings, as credentials or a folder. */
  isPersonal: boolean;
  limits: CircuitLimits;
  logger: Pick<Logger, 'warn' | 'info'>;
  nowMs: () => number;
}

/** A step that stops asking a server that fails. */
export interface Breaker extends Step {
  /** Number of open circuits: that of all callers, and those of single accounts. */
  status(): { isOpenForAll: boolean; accounts: number };
}

/** Answers of a server that works: what it refuses to this caller. */
const refusals = new Set([
  'backend_wants_login',
  'backend_forbids',
  'backend_refused',
  'backend_session_lost',
  'backend_answer_too_large',
]);

/** Failures that say nothing about the server: it was not asked. */
const unasked = new Set(['backend_processes_exhausted', 'backend_busy', 'backend_restarting']);

/** The server is not reached, whoever asks it for whatever. */
const ofReach = new Set(['backend_unreachable', 'backend_certificate_invalid', 'backend_not_private']);

/** Its program does not start, whoever it is started for. */
const ofStart = new Set(['backend_not_started', 'backend_start_timed_out']);

/** Methods in which nobody says anything that the server could fail by, if they go on from no cursor. */
const plain = new Set(['initialize', 'server/discover', 'ping', ...lists.keys()]);

/** Accounts whose failures are known, at most; beyond, the oldest is forgotten. */
const maxAccounts = 10_000;

/**
 * Creates the breaker of a server: after failures in a row it answers at once, then lets one call through that decides
 * (T-157). Each account has a circuit of its own. That of all opens by failures of the server as a whole alone, met by
 * two accounts at least with no success of anybody between them: what people call, and what becomes of processes of
 * their own, shuts nobody else out (T-158).
 */
export function createBreaker(options: BreakerOptions): Breaker {
  const { name, isOneForAll, isPersonal, limits, logger, nowMs } = options;
  const ofAll = new Circuit(limits, 2, nowMs);
  const ofAccounts = new Map<string, Circuit>();

  const resting = (waitMs: number): Answer => {
    const retryAfterSeconds = Math.ceil(waitMs / 1000);
    const error = backendError('backend_resting', name);
    const message = `${error.message} Try again in ${retryAfterSeconds} s.`;
    return { error: { ...error, message, data: { reason: 'backend_resting', retryAfterSeconds } } };
  };
  const isOfAll = ({ method, params }: RequestMessage, reason: string): boolean =>
    ofReach.has(reason) ||
    (ofStart.has(reason) && !isPersonal) ||
    (isOneForAll && plain.has(method) && params?.cursor === undefined);
  const noteFailure = (account: string, isFailureOfAll: boolean): void => {
    const circuit = ofAccounts.get(account) ?? new Circuit(limits, 1, nowMs);
    ofAccounts.delete(account);
    ofAccounts.set(account, circuit);
    const [oldest] = ofAccounts.keys();
    if (ofAccounts.size > maxAccounts && oldest !== undefined) ofAccounts.delete(oldest);
    if (circuit.failed(account))
      logger.warn({ backend: name }, 'a backend fails for an account, and is left alone by it for a while');
    if (!isFailureOfAll) ofAll.gaveUp();
    else if (ofAll.failed(account))
      logger.warn({ backend: name }, 'a backend fails, and is left alone for a while');
  };
  const noteSuccess = (account: string): void => {
    ofAccounts.delete(account);
    if (ofAll.succeeded()) logger.info({ backend: name }, 'a backend that failed answers again');
  };

  return {
    cares: () => true,
    async answer(request, passing, next) {
      const { caller } = passing;
      const account = caller ? accountKeyPrefix(caller) : '';
      const circuit = ofAccounts.get(account);
      const ownWaitMs = circuit?.enter() ?? 0;
      if (ownWaitMs > 0) return resting(ownWaitMs);
      const waitMs = ofAll.enter();
      if (waitMs > 0) {
        circuit?.gaveUp();
        return resting(waitMs);
      }
      let verdict: Verdict = { kind: 'none' };
      try {
        const answer = await next(request);
        if (!passing.isCancelled) verdict = judge(answer);
        return answer;
      } finally {
        if (verdict.kind === 'none') {
          circuit?.gaveUp();
          ofAll.gaveUp();
        } else if (verdict.kind === 'failed') noteFailure(account, isOfAll(request, verdict.reason));
        else noteSuccess(account);
      }
    },
    status() {
      for (const [account, circuit] of ofAccounts) if (circuit.isIdle) ofAccounts.delete(account);
      return {
        isOpenForAll: ofAll.isOpen,
        accounts: [...ofAccounts.values()].filter(({ isOpen }) => isOpen).length,
      };
    },
  };
}

type Verdict = { kind: 'answered' | 'none' } | { kind: 'failed'; reason: string };

function judge({ error }: Answer): Verdict {
  const reason = (error?.data as { reason?: unknown } | undefined)?.reason;
  if (typeof reason !== 'string' || refusals.has(reason)) return { kind: 'answered' };
  if (unasked.has(reason) || reason.startsWith('credential_')) return { kind: 'none' };
  return reason.startsWith('backend_') ? { kind: 'failed', reason } : { kind: 'answered' };
}
