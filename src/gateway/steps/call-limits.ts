import { InFlightMap } from '../../collections/in-flight-map.ts';
import { WindowCounts } from '../../collections/window-counts.ts';
import { accountKeyPrefix } from '../../oauth/auth-info.ts';
import { askedFor } from './asked-for.ts';
import { namePatterns } from './name-pattern.ts';
import type { Answer, Step } from './step.ts';

/** Limit of a user's calls of a tool. */
export interface CallLimitRule {
  /** Pattern of the names of tools it is for, each by itself. */
  tools: string;
  perMinute?: number | undefined;
  /** Calls that run at once. */
  atOnce?: number | undefined;
}

/** Creates the limits of an account's calls of a tool, whatever clients they come from. Every rule that fits counts. */
export function createCallLimits(rules: readonly CallLimitRule[], nowMs: () => number): Step {
  const limits = rules.map((rule, at) => ({ ...rule, at, fits: namePatterns([rule.tools]) }));
  const counts = new WindowCounts(60_000, nowMs);
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
          const waitMs = perMinute === undefined ? 0 : counts.take(key, perMinute);
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
  return { error: { code: -32000, message, data: { reason: 'tool_called_too_often', retryAfterSeconds } } };
}

function tooManyAtOnce(tool: string, limit: number): Answer {
  const message =
    limit === 1
      ? `A call of the tool ${tool} runs for your account, and no other may at once. Try again when it has ended.`
      : `${limit} calls of the tool ${tool} run for your account, and no more may at once. Try again when one has ended.`;
  return {
    error: { code: -32000, message, data: { reason: 'tool_called_too_often_at_once', retryAfterSeconds: 1 } },
  };
}
