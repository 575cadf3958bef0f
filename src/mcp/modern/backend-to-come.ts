import type { Logger } from '../../observability/logger.ts';
import type { Message } from '../reading/frames.ts';
import { StartProgress } from '../sdk/start-progress.ts';
import type { Answer, Backend, Call } from './backend.ts';
import { failedInside } from './error-answers.ts';

/** After this long without knowing what answers, a request is taken before that is known, in milliseconds. */
export const soonMs = 500;

/** Parts of the stands for a backend. */
export interface BackendToComeOptions {
  /** Fault of a request that only the started backend can find. */
  check(backend: Backend, call: Call): Promise<Answer | undefined>;
  logger: Logger;
}

/**
 * Creates what stands for a backend while it is being found out what answers: it takes requests at once, so that their
 * clients hear that a server starts, and hands them over when it is known.
 * @see MCP 2026-07-28 "Progress"
 */
export function createBackendToCome(
  coming: Promise<Backend>,
  { check, logger }: BackendToComeOptions,
): Backend {
  const begin = (call: Call): (() => void) => {
    let isCancelled = false;
    let cancel = (): void => {
      isCancelled = true;
    };
    const handOver = async (): Promise<void> => {
      const tell = (progress: Message): void => call.notify(progress);
      const waiting = new StartProgress('The MCP server is starting.', tell, soonMs);
      waiting.add(call.request);
      const backend = await coming.finally(() => waiting.stop());
      const wrong = isCancelled ? undefined : await check(backend, call);
      if (isCancelled) return;
      if (wrong) call.answer(wrong);
      else cancel = backend.begin(call);
    };
    handOver().catch((error: unknown) => {
      logger.error({ err: error }, 'an MCP request failed');
      call.answer(failedInside);
    });
    return () => cancel();
  };
  return {
    checksEnvelope: 'nothing',
    begin,
    notify(notification, caller) {
      coming.then(
        (backend) => backend.notify(notification, caller),
        () => {},
      );
    },
    discover: async (caller) => (await coming).discover(caller),
    close: async () => {},
  };
}
