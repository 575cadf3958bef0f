import { backendError } from '../backends/backend-errors.ts';
import type { Answer, Step } from './step.ts';

/** How long a server may take. */
export interface TimeLimits {
  /** Without a sign that it works on the request, in milliseconds. */
  quietMs: number;
  /** In all, in milliseconds. */
  longestMs: number;
}

/**
 * Creates the time limit of requests. It begins anew when the server tells of progress, asks its client something or
 * gets an answer, up to the longest; a server that is out of time is told that the request is cancelled (T-156, T-157).
 * @param name what the server is called
 */
export function createTimeLimit(name: string, { quietMs, longestMs }: TimeLimits): Step {
  return {
    // The start of a server has a limit of its own.
    cares: (method) => method !== 'initialize' && method !== 'server/discover',
    answer(request, passing, next) {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const endsAtMs = performance.now() + longestMs;
      const expire = (): void => resolve({ error: backendError('backend_call_timed_out', name) });
      let timer = setTimeout(expire, Math.min(quietMs, longestMs)).unref();
      passing.onProgress(() => {
        clearTimeout(timer);
        const leftMs = Math.max(0, endsAtMs - performance.now());
        timer = setTimeout(expire, Math.min(quietMs, leftMs)).unref();
      });
      next(request).then(resolve, reject);
      return promise.finally(() => {
        passing.onProgress(() => undefined);
        clearTimeout(timer);
      });
    },
  };
}
