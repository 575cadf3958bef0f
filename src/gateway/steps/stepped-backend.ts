import type { Message } from '../../mcp/checks/messages.ts';
import type { Backend, Call, Answer as HttpAnswer } from '../../mcp/modern/backend.ts';
import { internalCall } from '../../mcp/modern/internal-call.ts';
import type { Chain, Way } from './chain.ts';
import type { Answer } from './step.ts';
import { SteppedRequest } from './stepped-request.ts';

const cancelled: Answer = { error: { code: -32800, message: 'The request was cancelled.' } };

/**
 * Puts steps before what answers requests of 2026-07-28: requests go through them, and answers come back through them;
 * everything else passes as it is.
 */
export function steppedBackend(backend: Backend, chain: Chain): Backend {
  const guide = (way: Way, call: Call): (() => void) => {
    const { caller } = call;
    let cancelAtServer: (() => void) | undefined;
    let given: HttpAnswer | undefined;
    const stepped = new SteppedRequest({
      caller: caller.authInfo,
      era: 'modern',
      behind: backend,
      ask: async (method, params) =>
        withoutHttp(await internalCall((asked) => backend.begin(asked), method, params, caller)),
    });
    const handOver = (request: Call['request']): Promise<Answer> =>
      new Promise((take) => {
        if (stepped.isCancelled) return take(cancelled);
        const notify = (notification: Message): void => {
          stepped.progress();
          call.notify(notification);
        };
        const answer = (by: HttpAnswer): void => {
          given = by;
          cancelAtServer = undefined;
          take(withoutHttp(by));
        };
        const cancel = backend.begin({ request, caller, notify, answer });
        if (given) return undefined;
        cancelAtServer = () => {
          cancelAtServer = undefined;
          cancel();
          take(cancelled);
        };
        return undefined;
      });
    void way(call.request, stepped, handOver).then((answer) => {
      if (stepped.isCancelled) return;
      cancelAtServer?.();
      call.answer(withHttp(answer, given));
    });
    return () => {
      stepped.cancel();
      cancelAtServer?.();
    };
  };

  return {
    ...(backend.server && { server: backend.server }),
    checksEnvelope: backend.checksEnvelope,
    ...(backend.checksScopes !== undefined && { checksScopes: backend.checksScopes }),
    begin(call) {
      const way = chain.wayOf(call.request.method);
      return way ? guide(way, call) : backend.begin(call);
    },
    notify: (notification, caller) => backend.notify(notification, caller),
    discover: (caller) => backend.discover(caller),
    ...(backend.listen && {
      listen: (filter, call, listener) =>
        backend.listen?.(filter, call, {
          tell(change) {
            chain.hear({ jsonrpc: '2.0', ...change }, backend);
            listener.tell(change);
          },
          ended: () => listener.ended(),
        }) ?? (() => undefined),
    }),
    ...(backend.inputSchemaOf && {
      inputSchemaOf: (tool, caller) => backend.inputSchemaOf?.(tool, caller),
    }),
    close: () => backend.close(),
  };
}

function withoutHttp({ result, error }: HttpAnswer): Answer {
  return error ? { error } : { result };
}

/** The status and headers of what the server answered go with its answer, not with that of a step. */
function withHttp(answer: Answer, given: HttpAnswer | undefined): HttpAnswer {
  const isOfServer = given && (given.error === undefined) === (answer.error === undefined);
  if (!isOfServer) return { status: 200, ...answer };
  const { status, headers, by } = given;
  return { status, ...(headers && { headers }), ...(by && { by }), ...answer };
}
