import { ownData } from '../../mcp/building-blocks.ts';
import type { RequestMessage } from '../../mcp/protocol.ts';
import { accountKeyPrefix } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import { backendError } from '../backends/backend-errors.ts';
import { type Answer, lists, type Step } from './step.ts';

/** Options of the breaker. */
interface BreakerOptions {
  /** Name of the server. */
  name: string;
  /** True if one server serves everybody; false if each account has a process. */
  isOneForAll: boolean;
  /** True if starts depend on the account, because of its credentials or folder. */
  isPersonal: boolean;
  limits: CircuitLimits;
  /** Absent if no other node uses the same server. */
  relay?: CircuitRelay | undefined;
  logger: Pick<Logger, 'warn' | 'info'>;
  nowMs: () => number;
}

/** A circuit that has opened or closed. */
export interface CircuitState {
  /** Its account; absent for the circuit of all callers. */
  account?: string;
  /** Time for which it stays open, in milliseconds; 0 if it has closed. */
  openMs: number;
}

/** Carries the circuits of a server that several nodes use. */
export interface CircuitRelay {
  tell(state: CircuitState): void;
  /** Calls back for circuits at other nodes. @returns ends it */
  listen(hear: (state: CircuitState) => void): () => void;
}

/** A step that stops requests to a failing server. */
export interface Breaker extends Step {
  close(): void;
  /** State of the circuit of all callers, and number of open circuits of single accounts. */
  status(): { isOpenForAll: boolean; accounts: number };
}

/** Failures of a working server that rejects this caller. */
const refusals = new Set([
  'backend_wants_login',
  'backend_forbids',
  'backend_refused',
  'backend_session_lost',
  'backend_answer_too_large',
]);

/** Failures that say nothing about the server, because it got no request. */
const unasked = new Set(['backend_processes_exhausted', 'backend_busy', 'backend_restarting']);

/** Failures to reach the server. */
const ofReach = new Set(['backend_unreachable', 'backend_certificate_invalid', 'backend_not_private']);

/** Failures to start its program. */
const ofStart = new Set(['backend_not_started', 'backend_start_timed_out']);

/** Methods without input by which the caller could make the server fail, if there is no cursor. */
const plain = new Set(['initialize', 'server/discover', 'ping', ...lists.keys()]);

/** Maximum number of accounts with known failures; the oldest is forgotten first. */
const maxAccounts = 10_000;

/**
 * Creates the circuit breaker of a server. After several failures in a row requests fail at once, until one call is let
 * through as a test (T-157). Each account has its own circuit. The circuit of all callers opens only by failures of the
 * server as a whole, at two accounts at least and without a success between them: no caller can shut out others by its
 * requests or its own processes (T-158).
 */
export function createBreaker(options: BreakerOptions): Breaker {
  const { name, isOneForAll, isPersonal, limits, relay, logger, nowMs } = options;
  const ofAll = new Circuit(limits, 2, nowMs);
  const ofAccounts = new Map<string, Circuit>();

  const resting = (waitMs: number): Answer => {
    const retryAfterSeconds = Math.ceil(waitMs / 1000);
    const error = backendError('backend_resting', name);
    const message = `${error.message} Try again in ${retryAfterSeconds} s.`;
    const data = ownData({ reason: 'backend_resting', retryAfterSeconds });
    return { error: { ...error, message, data } };
  };
  const isOfAll = ({ method, params }: RequestMessage, reason: string): boolean =>
    ofReach.has(reason) ||
    (ofStart.has(reason) && !isPersonal) ||
    (isOneForAll && plain.has(method) && params?.cursor === undefined);
  const circuitOf = (account: string): Circuit => {
    const circuit = ofAccounts.get(account) ?? new Circuit(limits, 1, nowMs);
    ofAccounts.delete(account);
    ofAccounts.set(account, circuit);
    const [oldest] = ofAccounts.keys();
    if (ofAccounts.size > maxAccounts && oldest !== undefined) ofAccounts.delete(oldest);
    return circuit;
  };
  const noteFailure = (account: string, isFailureOfAll: boolean): void => {
    const circuit = circuitOf(account);
    if (circuit.failed(account))
      logger.warn({ backend: name }, 'a backend fails for an account, and is left alone by it for a while');
    if (circuit.isOpen) relay?.tell({ account, openMs: limits.openMs });
    if (!isFailureOfAll) ofAll.gaveUp();
    else if (ofAll.failed(account))
      logger.warn({ backend: name }, 'a backend fails, and is left alone for a while');
    if (isFailureOfAll && ofAll.isOpen) relay?.tell({ openMs: limits.openMs });
  };
  const noteSuccess = (account: string): void => {
    if (ofAccounts.get(account)?.isOpen) relay?.tell({ account, openMs: 0 });
    ofAccounts.delete(account);
    if (!ofAll.succeeded()) return;
    relay?.tell({ openMs: 0 });
    logger.info({ backend: name }, 'a backend that failed answers again');
  };
  const unlisten = relay?.listen(({ account, openMs }) => {
    if (openMs > 0) {
      const circuit = account === undefined ? ofAll : circuitOf(account);
      circuit.openFor(Math.min(openMs, limits.openMs));
    } else if (account === undefined) ofAll.succeeded();
    else ofAccounts.delete(account);
  });

  return {
    cares: () => true,
    close: () => unlisten?.(),
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

/** Conditions under which a circuit opens, and for how long. */
interface CircuitLimits {
  /** Number of failures in a row that open it. */
  failures: number;
  /** Lifetime of a failure, in milliseconds. */
  windowMs: number;
  /** Time without any attempt, in milliseconds. */
  openMs: number;
}

/**
 * A circuit breaker: after several failures in a row no call is let through for a while, then one as a test. Not a
 * library such as `cockatiel` or `opossum`: theirs open by the number of failures alone, and this circuit opens only by
 * failures of several accounts, so that one account cannot shut out the others (T-158).
 */
export class Circuit {
  readonly #limits: CircuitLimits;
  readonly #minAccounts: number;
  readonly #nowMs: () => number;
  /** Failures since the last success. */
  #failures: { atMs: number; account: string }[] = [];
  #openUntilMs: number | undefined;
  /** Start time of the test call. */
  #triedAtMs: number | undefined;

  /**
   * @param minAccounts minimum number of accounts with failures until it opens; no account counts more than its share
   */
  constructor(limits: CircuitLimits, minAccounts: number, nowMs: () => number) {
    this.#limits = limits;
    this.#minAccounts = minAccounts;
    this.#nowMs = nowMs;
  }

  get isOpen(): boolean {
    return this.#openUntilMs !== undefined;
  }

  /** True if it is closed, and no failure counts. */
  get isIdle(): boolean {
    return !this.isOpen && !this.#failures.some(({ atMs }) => this.#counts(atMs));
  }

  /**
   * Lets a call through, whose result must be reported by `succeeded`, `failed` or `gaveUp`.
   * @returns 0, or the milliseconds to wait if no call is let through
   */
  enter(): number {
    if (this.#openUntilMs === undefined) return 0;
    const waitMs = this.#openUntilMs - this.#nowMs();
    if (waitMs > 0) return waitMs;
    // Who tries may take long: others do not wait for them for longer than before.
    if (this.#triedAtMs !== undefined && this.#triedAtMs > this.#nowMs() - this.#limits.openMs)
      return trialMs;
    this.#triedAtMs = this.#nowMs();
    return 0;
  }

  /** @returns true if it was open until now */
  succeeded(): boolean {
    const wasOpen = this.isOpen;
    this.#failures = [];
    this.#openUntilMs = undefined;
    this.#triedAtMs = undefined;
    return wasOpen;
  }

  /**
   * @param account owner of the failed call
   * @returns true if it opens by this failure
   */
  failed(account: string): boolean {
    const { failures, openMs } = this.#limits;
    const wasOpen = this.isOpen;
    this.#triedAtMs = undefined;
    const counting = this.#failures.filter(({ atMs }) => this.#counts(atMs));
    const own = counting.filter((failure) => failure.account === account);
    const beyond = own.length >= Math.ceil(failures / this.#minAccounts) ? own[0] : undefined;
    this.#failures = [...counting.filter((failure) => failure !== beyond), { atMs: this.#nowMs(), account }];
    const accounts = new Set(this.#failures.map((failure) => failure.account)).size;
    const opens = wasOpen || (this.#failures.length >= failures && accounts >= this.#minAccounts);
    if (opens) this.#openUntilMs = this.#nowMs() + openMs;
    return opens && !wasOpen;
  }

  /** Another node has found that it must be open. */
  openFor(ms: number): void {
    this.#openUntilMs = Math.max(this.#openUntilMs ?? 0, this.#nowMs() + ms);
    this.#triedAtMs = undefined;
  }

  /** The call ended without a result. */
  gaveUp(): void {
    this.#triedAtMs = undefined;
  }

  #counts(atMs: number): boolean {
    return atMs > this.#nowMs() - this.#limits.windowMs;
  }
}

/** Pause for other calls during a test call, in milliseconds. */
const trialMs = 1000;
