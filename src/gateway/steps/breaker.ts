import { accountKeyPrefix } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import { backendError } from '../backends/backend-errors.ts';
import { Circuit, type CircuitLimits } from './circuit.ts';
import type { Answer, Step } from './step.ts';

/** What a breaker works with. */
export interface BreakerOptions {
  /** What the server is called. */
  name: string;
  limits: CircuitLimits;
  logger: Pick<Logger, 'warn' | 'info'>;
  nowMs: () => number;
}

/** A step that stops asking a server that fails. */
export interface Breaker extends Step {
  /** How many circuits are open: that of all callers, and those of single accounts. */
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

/** What says nothing of the server: it was not asked. */
const unasked = new Set(['backend_processes_exhausted', 'backend_busy', 'backend_restarting']);

/** Accounts whose failures are known, at most; beyond, the oldest is forgotten. */
const maxAccounts = 10_000;

/**
 * Creates the breaker of a server: after failures in a row it answers at once, then lets one call through that decides
 * (T-157). Each account has a circuit of its own; that of all opens by failures of two accounts at least, with no
 * success of anybody between them, so that nobody shuts others out by what they call (T-158).
 */
export function createBreaker({ name, limits, logger, nowMs }: BreakerOptions): Breaker {
  const ofAll = new Circuit(limits, 2, nowMs);
  const ofAccounts = new Map<string, Circuit>();

  const resting = (waitMs: number): Answer => {
    const retryAfterSeconds = Math.ceil(waitMs / 1000);
    const error = backendError('backend_resting', name);
    const message = `${error.message} Try again in ${retryAfterSeconds} s.`;
    return { error: { ...error, message, data: { reason: 'backend_resting', retryAfterSeconds } } };
  };
  const noteFailure = (account: string): void => {
    const circuit = ofAccounts.get(account) ?? new Circuit(limits, 1, nowMs);
    ofAccounts.delete(account);
    ofAccounts.set(account, circuit);
    const [oldest] = ofAccounts.keys();
    if (ofAccounts.size > maxAccounts && oldest !== undefined) ofAccounts.delete(oldest);
    if (circuit.failed(account))
      logger.warn({ backend: name }, 'a backend fails for an account, and is left alone by it for a while');
    if (ofAll.failed(account))
      logger.warn({ backend: name }, 'a backend fails, and is left alone for a while');
  };
  const noteSuccess = (account: string): void => {
    ofAccounts.delete(account);
    if (ofAll.succeeded()) logger.info({ backend: name }, 'a backend that failed answers again');
  };

  return {
    cares: () => true,
    async answer(request, { caller, signal }, next) {
      const account = caller ? accountKeyPrefix(caller) : '';
      const circuit = ofAccounts.get(account);
      const ownWaitMs = circuit?.enter() ?? 0;
      if (ownWaitMs > 0) return resting(ownWaitMs);
      const waitMs = ofAll.enter();
      if (waitMs > 0) {
        circuit?.gaveUp();
        return resting(waitMs);
      }
      let verdict: Verdict = 'none';
      try {
        const answer = await next(request);
        if (!signal.aborted) verdict = judge(answer);
        return answer;
      } finally {
        if (verdict === 'none') {
          circuit?.gaveUp();
          ofAll.gaveUp();
        } else if (verdict === 'failed') noteFailure(account);
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

type Verdict = 'answered' | 'failed' | 'none';

function judge({ error }: Answer): Verdict {
  const reason = (error?.data as { reason?: unknown } | undefined)?.reason;
  if (typeof reason !== 'string' || refusals.has(reason)) return 'answered';
  if (unasked.has(reason) || reason.startsWith('credential_')) return 'none';
  return reason.startsWith('backend_') ? 'failed' : 'answered';
}
