import { accountKeyPrefix } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import type { CredentialSource, PersonalCredentials } from '../credentials/credentials.ts';
import { type AllowedNames, createAllowedNames } from './allowed-names.ts';
import { ArgumentChecks } from './argument-checks.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import { createCache } from './cache.ts';
import { type CallLimitRule, createCallLimits } from './call-limits.ts';
import { createCheckedArguments } from './checked-arguments.ts';
import { createCleaning } from './cleaning.ts';
import { DefinitionPins, type DefinitionPinsOptions } from './definition-pins.ts';
import { createInstructionPinning, createPinning, type OnToolChange } from './pinning.ts';
import { createReadOnly } from './read-only.ts';
import { createRefusedCredentials } from './refused-credentials.ts';
import type { Step } from './step.ts';
import { createTimeLimit } from './time-limit.ts';
import { ToolDefinitions } from './tool-definitions.ts';

/** The operator's policy for a backend; times in seconds. */
export interface Policy extends AllowedNames {
  /** True if only tools may be called that the backend says change nothing. */
  readOnly: boolean;
  onToolChange: OnToolChange;
  /** True if arguments are checked by the schemas of their tools. */
  checkArguments: boolean;
  limits: readonly CallLimitRule[];
  /** Time limits of a response: without a sign of work, and in all. */
  timeLimitSeconds: number;
  longestSeconds: number;
  breaker: { failures: number; windowSeconds: number; openSeconds: number };
}

/** Cached responses of a backend; times in seconds. */
export interface Keeping {
  /** True if anything is. */
  keep: boolean;
  maxEntries: number;
  maxBytes: number;
  /** Lifetime of lists of servers of older revisions; not cached if left out. */
  listSeconds?: number | undefined;
}

/** Storage of a route's pins, and the listener to changes. */
export type Memory = DefinitionPinsOptions;

/** Parts of the steps. */
export interface StepsOptions {
  /** Display name of the backend. */
  name: string;
  /** True if one server answers everybody, by URL or in one process. */
  isOneForAll: boolean;
  /** True if each account brings what its server is started with. */
  isPersonal: boolean;
  policy: Policy;
  cache: Keeping;
  /** Pins its definitions; nothing is pinned without it. */
  pins?: Memory;
  /** Clears the cached responses of an account whose credentials for the backend changed. */
  credentials?: Pick<CredentialSource, 'onChange'> | undefined;
  /** Hears if the server does not accept what it is given for somebody; nothing is looked for if it is left out. */
  refusable?: Pick<PersonalCredentials, 'refused'> | undefined;
  /** Binds what it hands out to its callers; absent if no two callers share a credential or process there. */
  ownership?: Step | undefined;
  /** True if it is several backends, each of which has guards of its own; not by default. */
  areGuarded?: boolean;
  logger: Logger;
  nowMs?: () => number;
}

/** Guards of one backend: they bound the wait of its callers, and keep requests from it while it fails. */
export interface Guards {
  list: readonly Step[];
  breaker: Pick<Breaker, 'status'>;
}

/** The steps before a backend, and what an operator may know of them. */
export interface Steps extends Guards {
  /** Lets go of what they hold. */
  close(): void;
}

/** Creates the guards of a backend: what looks after its credentials, the breaker, then the time limit. */
export function createGuards({
  name,
  policy,
  logger,
  isOneForAll,
  isPersonal,
  refusable,
  nowMs = () => performance.now(),
}: Pick<StepsOptions, 'name' | 'logger' | 'nowMs' | 'isOneForAll' | 'isPersonal' | 'refusable'> & {
  policy: Pick<Policy, 'breaker' | 'timeLimitSeconds' | 'longestSeconds'>;
}): Guards {
  const { failures, windowSeconds, openSeconds } = policy.breaker;
  const breaker = createBreaker({
    name,
    isOneForAll,
    isPersonal,
    limits: { failures, windowMs: windowSeconds * 1000, openMs: openSeconds * 1000 },
    logger,
    nowMs,
  });
  const timeLimit = createTimeLimit(name, {
    quietMs: policy.timeLimitSeconds * 1000,
    longestMs: policy.longestSeconds * 1000,
  });
  const first = refusable ? [createRefusedCredentials(refusable)] : [];
  return { list: [...first, breaker, timeLimit], breaker };
}

/** Creates the steps of a backend: what a request passes between the gate and the server, in this order. */
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
  const { list: guards, breaker } = createGuards(options);
  const definitions = new ToolDefinitions(nowMs);
  const others = {
    prompt: new ToolDefinitions(nowMs, 'prompts/list'),
    template: new ToolDefinitions(nowMs, 'resources/templates/list'),
  };
  const pinning = pins && { pins: new DefinitionPins(pins), onChange: policy.onToolChange, logger };
  const checks = new ArgumentChecks();
  const cache = createCache({ ...keeping, listMs: secondsToMs(keeping.listSeconds) }, nowMs);
  const stopHearing = credentials?.onChange((account) => cache.forgetAccount(accountKeyPrefix(account)));
  const list = [
    ...(options.ownership ? [options.ownership] : []),
    createAllowedNames(policy),
    ...(policy.readOnly ? [createReadOnly(definitions)] : []),
    createCallLimits(policy.limits, nowMs),
    ...(policy.checkArguments ? [createCheckedArguments({ name, definitions, checks, logger })] : []),
    ...(keeping.keep ? [cache] : []),
    ...(options.areGuarded ? [] : guards),
    createCleaning(name, logger),
    ...(pinning ? [createPinning({ ...pinning, definitions: { tool: definitions, ...others } })] : []),
    // Each of several servers has instructions of its own.
    ...(pinning && !options.areGuarded ? [createInstructionPinning(pinning)] : []),
    forgetting([definitions, others.prompt, others.template]),
  ];
  return {
    list,
    breaker,
    close() {
      stopHearing?.();
      checks.close();
    },
  };
}

function secondsToMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Creates the step of one of several servers that pins its instructions. @param key what the server is pinned by */
export function createMemberPinning(
  key: string,
  { pins, policy, logger }: { pins: Memory; policy: Pick<Policy, 'onToolChange'>; logger: Logger },
): Step {
  return createInstructionPinning({
    pins: new DefinitionPins(pins),
    onChange: policy.onToolChange,
    server: key,
    logger,
  });
}

/** Has known definitions forgotten when the server says that they changed. */
function forgetting(definitions: readonly ToolDefinitions[]): Step {
  return {
    cares: () => false,
    answer: (request, _passing, next) => next(request),
    hear(notification, behind) {
      for (const each of definitions) each.hear(notification, behind);
    },
  };
}
