import { internalError, isRecordedMethod, traceOf, withTrace } from '../../mcp/building-blocks.ts';
import type { RequestMessage } from '../../mcp/protocol.ts';
import type { TraceContext } from '../../observability/trace-context.ts';
import type { Answer, Step } from './step.ts';

/** Traces the requests to a backend. */
export interface BackendTracer {
  /** @param parent span of the call, in this process */
  begin(request: RequestMessage, parent: TraceContext): BackendSpan;
}

/** Span of a request to a backend. */
export interface BackendSpan {
  /** Context for the backend. */
  readonly context: TraceContext;
  /** @param isCancelled true if nobody waits for the response */
  end(answer: Answer, isCancelled: boolean): void;
}

/**
 * Creates the step that traces requests to a backend. It is the last one, so that each attempt has a span, and a call
 * that another step answers has none.
 */
export function createBackendSpans(tracer: BackendTracer): Step {
  return {
    cares: isRecordedMethod,
    async answer(request, passing, next) {
      const parent = traceOf(request);
      if (!parent) return next(request);
      const span = tracer.begin(request, parent);
      let answer: Answer = { error: internalError };
      try {
        answer = await next(withTrace(request, span.context));
        return answer;
      } finally {
        span.end(answer, passing.isCancelled);
      }
    },
  };
}
