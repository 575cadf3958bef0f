import { backendError } from '../backends/backend-errors.ts';
import type { Answer, Step } from './step.ts';

/** Time limits of a server. */
export interface TimeLimits {
  /** Without a sign that it works on the request, in milliseconds. */
  quietMs: number;
  /** In all, in milliseconds. */
  longestMs: number;
}

const ignore = (): void => undefined;

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
