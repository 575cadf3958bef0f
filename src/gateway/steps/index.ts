import type { ShareCounts } from '../../collections/window-counts.ts';
import { noteCall, ownReasonOf } from '../../mcp/building-blocks.ts';
import type { ChangeRelay } from '../../mcp/protocol.ts';
import { accountKeyPrefix } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import type { CredentialSource, PersonalCredentials } from '../credentials/credentials.ts';
import { type AllowedNames, createAllowedNames, createReadOnly } from './allowed-names.ts';
import { ArgumentChecks, createCheckedArguments } from './argument-checks.ts';
import { type Breaker, type CircuitRelay, createBreaker } from './breaker.ts';
import { createCache } from './cache.ts';
import { type CallLimitRule, createCallLimits, createTimeLimit } from './call-limits.ts';
import { createCleaning } from './cleaning.ts';
import { DefinitionPins, type DefinitionPinsOptions } from './definition-pins.ts';
import { createInstructionPinning, createPinning, type OnToolChange } from './pinning.ts';
import type { Answer, Step } from './step.ts';
import { ToolDefinitions } from './tool-definitions.ts';

/** The operator's policy for a backend; times in seconds. */
export interface Policy extends AllowedNames {
  /** True if only tools may be called that the backend declares as read-only. */
  readOnly: boolean;
  onToolChange: OnToolChange;
  /** True if arguments are checked against the schemas of their tools. */
  checkArguments: boolean;
  limits: readonly CallLimitRule[];
  /** Time limits of a response: without a sign of work, and in total. */
  timeLimitSeconds: number;
  longestSeconds: number;
  breaker: { failures: number; windowSeconds: number; openSeconds: number };
}

/** Cached responses of a backend; times in seconds. */
interface Keeping {
  /** Enables the cache. */
  keep: boolean;
  maxEntries: number;
  maxBytes: number;
  /** Lifetime of lists of older revisions; not cached by default. */
  listSeconds?: number | undefined;
}

/** Storage of the pins of a route, and the listener to changes. */
export type Memory = DefinitionPinsOptions;

/** Options of the steps. */
export interface StepsOptions {
  /** Display name of the backend. */
  name: string;
  /** True if one server serves everybody, by URL or as one process. */
  isOneForAll: boolean;
  /** True if processes differ by account, or if the server learns who calls. */
  isPersonal: boolean;
  /** True if the server learns who calls: no cached response is for everybody. */
  isToldCaller?: boolean | undefined;
  policy: Policy;
  cache: Keeping;
  /** Storage for pins of definitions; nothing is pinned without it. */
  pins?: Memory;
  /** Clears the cached responses of an account when its credentials change. */
  credentials?: Pick<CredentialSource, 'onChange'> | undefined;
  /** Called if the server rejects the credentials of a caller; such rejections are ignored without it. */
  refusable?: Pick<PersonalCredentials, 'refused'> | undefined;
  /** Binds ids that the server issues to their callers; absent if no callers share a credential or process. */
  ownership?: Step | undefined;
  /** True for several backends behind one path, each with its own guards; false by default. */
  areGuarded?: boolean;
  /** Shares the counts of calls with other nodes. */
  shareCalls?: ShareCounts | undefined;
  /** Brings changes that the server reported to other nodes. */
  relay?: Pick<ChangeRelay, 'listen'> | undefined;
  /** Carries the state of the circuit breaker to other nodes and back. */
  circuits?: CircuitRelay | undefined;
  logger: Logger;
  nowMs?: () => number;
}

/** The steps of a backend, and their status for an operator. */
export interface Steps {
  list: readonly Step[];
  breaker: Pick<Breaker, 'status'>;
  /** Releases the resources of the steps. */
  close(): void;
}

/**
 * Creates the steps of a backend that limit the wait of callers, and stop requests to it while it fails: rejected
 * credentials, the circuit breaker, the time limit.
 */
export function createGuards({
  name,
  policy,
  logger,
  isOneForAll,
  isPersonal,
  refusable,
  circuits,
  nowMs = () => performance.now(),
}: Pick<
  StepsOptions,
  'name' | 'logger' | 'nowMs' | 'isOneForAll' | 'isPersonal' | 'refusable' | 'circuits'
> & {
  policy: Pick<Policy, 'breaker' | 'timeLimitSeconds' | 'longestSeconds'>;
}): Steps {
  const { failures, windowSeconds, openSeconds } = policy.breaker;
  const breaker = createBreaker({
    name,
    isOneForAll,
    isPersonal,
    limits: { failures, windowMs: windowSeconds * 1000, openMs: openSeconds * 1000 },
    relay: circuits,
    logger,
    nowMs,
  });
  const timeLimit = createTimeLimit(name, {
    quietMs: policy.timeLimitSeconds * 1000,
    longestMs: policy.longestSeconds * 1000,
  });
  const first = refusable ? [createRefusedCredentials(refusable)] : [];
  return { list: [...first, breaker, timeLimit], breaker, close: () => breaker.close() };
}

/** Creates the steps of a backend, in the order in which a request passes them. */
export function createSteps(options: StepsOptions): Steps {
  const {
    name,
    policy,
    cache: keeping,
    pins,
    credentials,
    logger,
    nowMs = () => performance.now(),
  } = options;
  const { list: guards, breaker, close: closeGuards } = createGuards(options);
  const definitions = new ToolDefinitions(nowMs);
  const others = {
    prompt: new ToolDefinitions(nowMs, 'prompts/list'),
    template: new ToolDefinitions(nowMs, 'resources/templates/list'),
  };
  const pinned = pins && new DefinitionPins(pins);
  const pinning = pinned && { pins: pinned, onChange: policy.onToolChange, logger };
  const checks = new ArgumentChecks();
  const cache = createCache(
    { ...keeping, listMs: secondsToMs(keeping.listSeconds), isPersonal: options.isToldCaller },
    nowMs,
  );
  const stopHearing = credentials?.onChange((account) => cache.forgetAccount(accountKeyPrefix(account)));
  const list: Step[] = [
    ...(options.ownership ? [options.ownership] : []),
    createAllowedNames(policy),
    ...(policy.readOnly ? [createReadOnly(definitions)] : []),
    createCallLimits(policy.limits, nowMs, options.shareCalls),
    ...(policy.checkArguments ? [createCheckedArguments({ name, definitions, checks, logger })] : []),
    ...(keeping.keep ? [cache] : []),
    ...(options.areGuarded ? [] : guards),
    createCleaning(name, logger),
    ...(pinning ? [createPinning({ ...pinning, definitions: { tool: definitions, ...others } })] : []),
    // Each of several servers has instructions of its own.
    ...(pinning && !options.areGuarded ? [createInstructionPinning(pinning)] : []),
    forgetting([definitions, others.prompt, others.template]),
  ];
  const unlisten = options.relay?.listen(
    (change) => {
      for (const step of list) step.hear?.({ jsonrpc: '2.0', ...change });
    },
    () => {
      for (const step of list) step.hearAll?.();
    },
  );
  return {
    list,
    breaker,
    close() {
      unlisten?.();
      stopHearing?.();
      pinned?.close();
      closeGuards();
      checks.close();
    },
  };
}

function secondsToMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

/**
 * Creates the step that pins the instructions of one of several servers.
 * @param key key of its pins
 */
export function createMemberPinning(
  key: string,
  { pins, policy, logger }: { pins: Memory; policy: Pick<Policy, 'onToolChange'>; logger: Logger },
): { step: Step; close(): void } {
  const pinned = new DefinitionPins(pins);
  const step = createInstructionPinning({
    ...{ pins: pinned, onChange: policy.onToolChange, server: key, logger },
  });
  return { step, close: () => pinned.close() };
}

/** Forgets known definitions when the server reports a change. */
function forgetting(definitions: readonly ToolDefinitions[]): Step {
  return {
    cares: () => false,
    answer: (request, _passing, next) => next(request),
    hear(notification, behind) {
      for (const each of definitions) each.hear(notification, behind);
    },
    hearAll() {
      for (const each of definitions) each.forgetAll();
    },
  };
}

/** Maximum number of attempts of a request, each with new credentials. */
const maxTries = 3;

/**
 * Creates the step that renews credentials that a server rejects (401), and sends the request again. If they cannot be
 * renewed, the response tells the caller what to do. A rejected request had no effect, so it may always be sent again.
 */
export function createRefusedCredentials(credentials: Pick<PersonalCredentials, 'refused'>): Step {
  return {
    cares: () => true,
    async answer(request, passing, next) {
      const { caller } = passing;
      for (let tries = 1; ; tries++) {
        const beganMs = performance.now();
        const answer = await next(request);
        if (!caller || !isRefused(answer)) return answer;
        const found = await credentials.refused(caller, beganMs);
        if (found === undefined || passing.isCancelled) return answer;
        if (found !== 'renewed') return found;
        if (tries === maxTries) return answer;
        noteCall({ isRetried: true });
      }
    },
  };
}

function isRefused({ error }: Answer): boolean {
  return error !== undefined && ownReasonOf(error) === 'backend_wants_login';
}
