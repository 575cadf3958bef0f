import {
  createRecentSchemas,
  discoverBy,
  internalCall,
  requestCancelled,
} from '../../mcp/building-blocks.ts';
import type { Backend, Call, Answer as HttpAnswer, Message, SubscriptionFilter } from '../../mcp/protocol.ts';
import type { Chain, Way } from './chain.ts';
import type { Answer } from './step.ts';
import { SteppedRequest } from './stepped-request.ts';

const cancelled: Answer = { error: requestCancelled };

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
          const relayed = chain.relay(notification);
          if (!('refusal' in relayed)) call.notify(relayed);
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

  const begin = (call: Call): (() => void) => {
    const way = chain.wayOf(call.request.method);
    return way ? guide(way, call) : backend.begin(call);
  };
  // As the steps show them: by the header of a tool that is not there, nobody finds out that it is.
  const schemas = createRecentSchemas(begin);

  return {
    ...(backend.server && { server: backend.server }),
    checksEnvelope: backend.checksEnvelope,
    ...(backend.checksScopes !== undefined && { checksScopes: backend.checksScopes }),
    begin,
    notify: (notification, caller) => backend.notify(notification, caller),
    discover: (caller) => discoverBy(begin, caller),
    ...(backend.listen && {
      listen: (filter, call, listener) =>
        backend.listen?.(tellable(filter, chain), call, {
          begun: () => listener.begun?.(),
          tell(change) {
            const notification: Message = { jsonrpc: '2.0', ...change };
            chain.hear(notification, backend);
            if (change.method === 'notifications/tools/list_changed') schemas.forget();
            if (chain.mayTell(notification)) listener.tell(change);
          },
          ended: () => listener.ended(),
        }) ?? (() => undefined),
    }),
    ...(backend.inputSchemaOf && { inputSchemaOf: (tool, caller) => schemas.find(tool, caller) }),
    close: () => backend.close(),
  };
}

/** Leaves of a wish the resources a client may hear of. */
function tellable({ resourceSubscriptions, ...lists }: SubscriptionFilter, chain: Chain): SubscriptionFilter {
  const uris = resourceSubscriptions?.filter((uri) =>
    chain.mayTell({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } }),
  );
  return uris?.length ? { ...lists, resourceSubscriptions: uris } : lists;
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
