import {
  createRecentSchemas,
  discoverBy,
  internalCall,
  requestCancelled,
} from '../../mcp/building-blocks.ts';
import type {
  Backend,
  Call,
  ChangeRelay,
  Answer as HttpAnswer,
  McpLike,
  Message,
  ServerSource,
  SubscriptionFilter,
} from '../../mcp/protocol.ts';
import type { Logger } from '../../observability/logger.ts';
import { Chain, SteppedRequest, type Way } from './chain.ts';
import { PolicyTransport } from './policy-transport.ts';
import type { Answer, Step } from './step.ts';

const cancelled: Answer = { error: requestCancelled };

/**
 * Puts steps before a backend of 2026-07-28: requests and their responses pass through them, everything else passes
 * unchanged.
 */
function steppedBackend(backend: Backend, chain: Chain): Backend {
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
    ...(backend.checksScopesItself !== undefined && { checksScopesItself: backend.checksScopesItself }),
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

/** Removes the resources from a subscription that a client must not get notifications of. */
function tellable({ resourceSubscriptions, ...lists }: SubscriptionFilter, chain: Chain): SubscriptionFilter {
  const uris = resourceSubscriptions?.filter((uri) =>
    chain.mayTell({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } }),
  );
  return uris?.length ? { ...lists, resourceSubscriptions: uris } : lists;
}

function withoutHttp({ result, error }: HttpAnswer): Answer {
  return error ? { error } : { result };
}

/** Adds the HTTP status and headers of the server's response, if the response is the server's. */
function withHttp(answer: Answer, given: HttpAnswer | undefined): HttpAnswer {
  const isOfServer = given && (given.error === undefined) === (answer.error === undefined);
  if (!isOfServer) return { status: 200, ...answer };
  const { status, headers, by, isHeldHere } = given;
  return {
    status,
    ...(headers && { headers }),
    ...(by && { by }),
    ...(isHeldHere && { isHeldHere }),
    ...answer,
  };
}

/**
 * Puts steps before the servers of a source. Requests and their responses pass through them; notifications,
 * cancellations and requests of the server pass unchanged.
 * @param steps the first is nearest to the client
 * @param relay tells other nodes of changes, whose steps forget what they know then
 */
export function withSteps(
  source: ServerSource,
  steps: readonly Step[],
  logger: Pick<Logger, 'error'>,
  relay?: Pick<ChangeRelay, 'tell'>,
): ServerSource {
  const chain = new Chain(steps, logger, relay);
  const brought = new WeakMap<Backend, Backend>();
  const stepped = (backend: Backend): Backend => {
    const known = brought.get(backend) ?? steppedBackend(backend, chain);
    brought.set(backend, known);
    return known;
  };
  return {
    sharing: source.sharing,
    async create(context): Promise<McpLike> {
      const server = await source.create(context);
      return {
        connect: (transport) => server.connect(new PolicyTransport(transport, chain, context.authInfo)),
        close: () => server.close(),
      };
    },
    ...(source.modern && {
      async modern(caller) {
        const backend = await source.modern?.(caller);
        return backend && stepped(backend);
      },
    }),
  };
}
