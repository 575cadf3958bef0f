import { InFlightMap } from '../../collections/in-flight-map.ts';
import { type ShareCounts, WindowCounts } from '../../collections/window-counts.ts';
import { ownData } from '../../mcp/building-blocks.ts';
import { accountKeyPrefix } from '../../oauth/auth-info.ts';
import { backendError } from '../backends/backend-errors.ts';
import { namePatterns } from './allowed-names.ts';
import { type Answer, askedFor, type Step } from './step.ts';

/** Limit of a user's calls of a tool. */
export interface CallLimitRule {
  /** Pattern of tool names; each tool is limited separately. */
  tools: string;
  perMinute?: number | undefined;
  /** Maximum number of calls at the same time. */
  atOnce?: number | undefined;
}

/**
 * Creates the limits of an account's calls of a tool, over all its clients. All matching rules apply.
 * @param share shares the counts of calls with other nodes; calls that run are counted by each node
 */
export function createCallLimits(
  rules: readonly CallLimitRule[],
  nowMs: () => number,
  share?: ShareCounts,
): Step {
  const limits = rules.map((rule, at) => ({ ...rule, at, fits: namePatterns([rule.tools]) }));
  const counts = new WindowCounts(60_000, nowMs, share);
  const running = new InFlightMap<string, number>();

  return {
    cares: (method) => method === 'tools/call' && limits.length > 0,
    async answer(request, { caller }, next) {
      const tool = askedFor(request)?.name ?? '';
      const account = caller ? accountKeyPrefix(caller) : '';
      const entered: string[] = [];
      try {
        for (const { at, fits, perMinute, atOnce } of limits) {
          if (!fits(tool)) continue;
          const key = JSON.stringify([at, account, tool]);
          const count = running.get(key) ?? 0;
          if (atOnce !== undefined && count >= atOnce) return tooManyAtOnce(tool, atOnce);
          const waitMs = perMinute === undefined ? 0 : counts.take(account, `${at} ${tool}`, perMinute);
          if (waitMs > 0) return tooOften(tool, perMinute ?? 0, Math.ceil(waitMs / 1000));
          running.set(key, count + 1);
          entered.push(key);
        }
        return await next(request);
      } finally {
        for (const key of entered) {
          const left = (running.get(key) ?? 1) - 1;
          if (left > 0) running.set(key, left);
          else running.delete(key);
        }
      }
    },
  };
}

function tooOften(tool: string, limit: number, retryAfterSeconds: number): Answer {
  const times = limit === 1 ? 'once' : `${limit} times`;
  const message = `The tool ${tool} may be called ${times} a minute by an account. Try again in ${retryAfterSeconds} s.`;
  const data = ownData({ reason: 'tool_called_too_often', retryAfterSeconds });
  return { error: { code: -32000, message, data } };
}

function tooManyAtOnce(tool: string, limit: number): Answer {
  const message =
    limit === 1
      ? `A call of the tool ${tool} runs for your account, and no other may at once. Try again when it has ended.`
      : `${limit} calls of the tool ${tool} run for your account, and no more may at once. Try again when one has ended.`;
  const data = ownData({ reason: 'tool_called_too_often_at_once', retryAfterSeconds: 1 });
  return { error: { code: -32000, message, data } };
}

/** Time limits of a server. */
interface TimeLimits {
  /** Maximum time without a sign of work, in milliseconds. */
  quietMs: number;
  /** Maximum total time, in milliseconds. */
  longestMs: number;
}

const ignore = (): void => undefined;

/**
 * Creates the time limit of requests. It restarts when the server reports progress, sends a request to its client or
 * gets a response, up to the total. At the end the request is cancelled at the server (T-156, T-157).
 * @param name name of the server
 */
export function createTimeLimit(name: string, { quietMs, longestMs }: TimeLimits): Step {
  return {
    // The start of a server has a limit of its own.
    cares: (method) => method !== 'initialize' && method !== 'server/discover',
    answer(request, passing, next) {
      return new Promise<Answer>((resolve, reject) => {
        const endsAtMs = performance.now() + longestMs;
        const start = (): NodeJS.Timeout => {
          const leftMs = Math.max(0, endsAtMs - performance.now());
          return setTimeout(expire, Math.min(quietMs, leftMs)).unref();
        };
        const stop = (): void => {
          passing.onProgress(ignore);
          clearTimeout(timer);
        };
        const expire = (): void => {
          stop();
          resolve({ error: backendError('backend_call_timed_out', name) });
        };
        let timer = start();
        passing.onProgress(() => {
          clearTimeout(timer);
          timer = start();
        });
        next(request).then(
          (answer) => {
            stop();
            resolve(answer);
          },
          (error) => {
            stop();
            reject(error);
          },
        );
      });
    },
  };
}
