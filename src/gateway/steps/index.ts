import type { Logger } from '../../observability/logger.ts';
import { type AllowedNames, createAllowedNames } from './allowed-names.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import { type CallLimitRule, createCallLimits } from './call-limits.ts';
import { createCleaning } from './cleaning.ts';
import type { Step } from './step.ts';
import { createTimeLimit } from './time-limit.ts';

/** What an operator allows of a backend; times in seconds. */
export interface Policy extends AllowedNames {
  limits: readonly CallLimitRule[];
  /** How long it may take to answer without a sign of work, and in all. */
  timeLimitSeconds: number;
  longestSeconds: number;
  breaker: { failures: number; windowSeconds: number; openSeconds: number };
}

/** What steps are made of. */
export interface StepsOptions {
  /** What people call the backend. */
  name: string;
  policy: Policy;
  logger: Logger;
  nowMs?: () => number;
}

/** The steps before a backend, and what an operator may know of them. */
export interface Steps {
  list: readonly Step[];
  breaker: Pick<Breaker, 'status'>;
}

/** Creates the steps of a backend: what a request passes between the gate and the server, in this order. */
export function createSteps(options: StepsOptions): Steps {
  const { name, policy, logger, nowMs = () => performance.now() } = options;
  const { failures, windowSeconds, openSeconds } = policy.breaker;
  const breaker = createBreaker({
    name,
    limits: { failures, windowMs: windowSeconds * 1000, openMs: openSeconds * 1000 },
    logger,
    nowMs,
  });
  const list = [
    createAllowedNames(policy),
    createCallLimits(policy.limits, nowMs),
    breaker,
    createTimeLimit(name, {
      quietMs: policy.timeLimitSeconds * 1000,
      longestMs: policy.longestSeconds * 1000,
    }),
    createCleaning(name, logger),
  ];
  return { list, breaker };
}
