import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { plainJson } from '../../collections/exact-json.ts';
import { FairQueue } from '../../collections/fair-queue.ts';
import { missingInputOf, noteCall, ownData } from '../../mcp/building-blocks.ts';
import { accountKeyPrefix } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { loggable } from '../../observability/loggable.ts';
import type { Logger } from '../../observability/logger.ts';
import { cleanText } from './clean-definition.ts';
import { type Answer, askedFor, type Passing, type Step } from './step.ts';
import type { ToolDefinitions } from './tool-definitions.ts';

/** Result of a check: the fault, if any; or the reason why it was not possible. */
type Checked = { problem?: string | undefined } | { unchecked: Unchecked };

type Unchecked = 'unusable' | 'too_long' | 'too_many';

/** Message of the thread: it is ready, or the result of a check. */
interface Said {
  isReady?: boolean;
  problem?: string;
  isUnusable?: boolean;
}

/** Maximum time of a check, in milliseconds; an ordinary one takes less than one. */
const patienceMs = 250;

/** Memory of the thread, in MB. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 };

/** Limits of the checks: one runs at a time. */
const limits = { running: 1, waiting: 1000, perCaller: { running: 1, waiting: 8 } } as const;

interface Job {
  account: string;
  question: { schema: unknown; value: unknown };
  done(checked: Checked): void;
}

/**
 * Checks arguments against schemas of servers in a thread, which is started when it is needed. A slow schema or
 * argument cannot block this process, because the thread is ended. Accounts take turns, so a slow check delays other
 * accounts by one check at most (T-206).
 */
export class ArgumentChecks {
  readonly #queue = new FairQueue(limits);
  #thread: Worker | undefined;
  #isStarting = false;
  #current: { job: Job; timer: NodeJS.Timeout } | undefined;

  /** @param account owner of the arguments */
  check(account: string, schema: unknown, value: unknown): Promise<Checked> {
    return new Promise((done) => {
      const start = (): void => this.#ask({ account, question: { schema, value }, done });
      const refuse = (): void => done({ unchecked: 'too_many' });
      if (!this.#queue.enter([account], start, refuse)) refuse();
    });
  }

  /** Ends the thread; waiting checks get no result. */
  close(): void {
    this.#queue.refuseWaiting();
    this.#end('too_many');
  }

  #ask(job: Job): void {
    const thread = this.#thread ?? this.#start();
    this.#thread = thread;
    thread.ref();
    this.#current = { job, timer: this.#limit(this.#isStarting ? startMs : patienceMs) };
    try {
      thread.postMessage(job.question);
    } catch {
      // What cannot be handed to a thread.
      this.#finish({ unchecked: 'unusable' });
    }
  }

  #limit(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#end('too_long'), ms);
  }

  #start(): Worker {
    // It stands beside this code, in src/ and as a program of the build.
    const file = new URL(`./argument-thread${extname(import.meta.url)}`, import.meta.url);
    const thread = new Worker(file, { resourceLimits, env: {}, execArgv: [] });
    this.#isStarting = true;
    thread.on('message', (said: Said) => {
      if (this.#thread !== thread) return;
      if (said.isReady) this.#ready();
      else this.#finish(said.isUnusable ? { unchecked: 'unusable' } : { problem: said.problem });
    });
    thread.on('error', () => {
      if (this.#thread === thread) this.#end('unusable');
    });
    thread.unref();
    return thread;
  }

  /** Starts the time of checks that waited for the thread. */
  #ready(): void {
    this.#isStarting = false;
    if (!this.#current) return;
    clearTimeout(this.#current.timer);
    this.#current.timer = this.#limit(patienceMs);
  }

  #end(unchecked: Unchecked): void {
    void this.#thread?.terminate();
    this.#thread = undefined;
    this.#isStarting = false;
    this.#finish({ unchecked });
  }

  #finish(checked: Checked): void {
    const { job, timer } = this.#current ?? {};
    this.#current = undefined;
    clearTimeout(timer);
    this.#thread?.unref();
    if (!job) return;
    job.done(checked);
    this.#queue.leave([job.account]);
  }
}

/** Maximum time of the first check of a thread, including its start, in milliseconds. */
const startMs = 5000;

/** Options of the step. */
interface CheckedArgumentsOptions {
  /** Name of the server. */
  name: string;
  definitions: Pick<ToolDefinitions, 'find'>;
  checks: Pick<ArgumentChecks, 'check'>;
  logger: Pick<Logger, 'warn'>;
}

/**
 * Creates the step that checks arguments against the schema of the called tool. Invalid arguments are an error of the
 * tool, which the model reads. An unknown tool is left to the server. If the list needs a credential of the user, the
 * response says so.
 * @see MCP 2025-11-25 tools "Error Handling"
 */
export function createCheckedArguments({ name, definitions, checks, logger }: CheckedArgumentsOptions): Step {
  const answerFor = (tool: string, checked: Checked, passing: Passing): Answer | undefined => {
    if (!('unchecked' in checked))
      return checked.problem === undefined ? undefined : doesNotFit(tool, checked.problem, passing);
    if (checked.unchecked === 'too_many') return tooMany;
    logger.warn(
      { backend: name, tool: loggable(tool), reason: checked.unchecked },
      'arguments of a call could not be checked by the schema of its tool',
    );
    return cannotCheck(tool, name);
  };

  return {
    cares: (method) => method === 'tools/call',
    async answer(request, passing, next) {
      const tool = askedFor(request)?.name ?? '';
      const { tool: definition, error } = await definitions.find(tool, passing);
      if (error && missingInputOf(error)) return { error };
      const schema = definition?.inputSchema;
      if (typeof schema !== 'object' || schema === null) return next(request);
      const account = passing.caller ? accountKeyPrefix(passing.caller) : '';
      const given = plainJson(request.params?.arguments ?? {});
      const checked = await checks.check(account, plainJson(schema), given);
      return answerFor(tool, checked, passing) ?? next(request);
    },
  };
}

function doesNotFit(tool: string, problem: string, { era }: Passing): Answer {
  noteCall({ refusal: 'arguments_do_not_fit' });
  const text = `The arguments do not fit the input schema of ${tool}. ${cleanText(problem)} Correct them and call the tool again.`;
  const complete = era === 'modern' ? { resultType: 'complete' } : {};
  return { result: { ...complete, content: [{ type: 'text', text }], isError: true } };
}

const tooMany: Answer = {
  error: {
    code: -32000,
    message: 'Too many calls of your account wait for their arguments to be checked. Try again in 1 s.',
    data: ownData({ reason: 'arguments_not_checked', retryAfterSeconds: 1 }),
  },
};

function cannotCheck(tool: string, name: string): Answer {
  const message = `The arguments could not be checked by the input schema the MCP server ${name} gives for ${tool}, so it was not called. Try other arguments; if it stays so, tell its operator.`;
  const data = ownData({ reason: 'arguments_not_checked' });
  return { error: { code: errorCodes.internalError, message, data } };
}
