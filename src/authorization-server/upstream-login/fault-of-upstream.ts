import type { UpstreamFault } from '../../upstream/upstream-fault.ts';
import type { Failure } from './purposes.ts';

/** Whether it is an upstream that went wrong, and not we ourselves. */
export function isUpstreamFault(error: unknown): error is UpstreamFault {
  return error instanceof Error && error.name === 'UpstreamFault';
}

/** What a fault of an upstream is to the person: they said no, it cannot be reached, or its answer was not accepted. */
export function failureOf({ kind, reason }: UpstreamFault): Failure {
  if (reason === 'denied') return 'denied';
  return kind === 'unavailable' ? 'unavailable' : 'refused';
}
