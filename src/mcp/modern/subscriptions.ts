import { SERVER_INFO_META_KEY, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import { type AuthInfo, principalKey } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { AccessWatch, EventStream, Reply } from '../http/exchange.ts';
import type { StreamLimit } from '../http/limits.ts';
import type {
  Answer,
  Backend,
  Caller,
  Change,
  ChangeRelay,
  Discovery,
  RequestMessage,
  SubscriptionFilter,
} from '../protocol.ts';
import { refusalAnswer } from './error-answers.ts';

/** Clients that listen to changes of an endpoint. */
export interface Listeners {
  /**
   * Opens the stream of `subscriptions/listen`.
   * @param backend listens for changes, if its servers report them only to listeners
   * @param discovery the capabilities of the server
   * @returns the error response if there is no stream
   */
  open(call: Listening, backend: Pick<Backend, 'listen'>, discovery: Discovery): Answer | undefined;
  /** Notifies all listeners of a change, also those at other nodes. */
  publish(change: Change): void;
  /** Ends all streams, each with its result. */
  close(): void;
}

/** A request to listen, and its HTTP response. */
export interface Listening {
  request: RequestMessage;
  caller: Caller;
  reply: Reply;
}

/** Limits of listening, and its access watch. */
export interface ListenersOptions {
  /** Counts the streams of a principal and of all. */
  streams: StreamLimit;
  accessWatch: AccessWatch;
  /** Absent if there are no other nodes. */
  relay?: ChangeRelay | undefined;
}

interface Subscription {
  id: RequestMessage['id'];
  account: string;
  filter: SubscriptionFilter;
  stream: EventStream;
  serverInfo: unknown;
}

/**
 * Creates the subscriptions of 2026-07-28. A stream begins with the honoured part of the filter, every message carries
 * the subscription's id, and a server ends the stream with a result.
 * @see MCP 2026-07-28 "Subscriptions" (C5-01, C5-02, T-145)
 */
export function createListeners({ streams, accessWatch, relay }: ListenersOptions): Listeners {
  const subscriptions = new Set<Subscription>();
  const tellAll = (change: Change): void => {
    for (const subscription of subscriptions) {
      const isForThem = change.account === undefined || change.account === subscription.account;
      if (isForThem) tell(subscription, change);
    }
  };
  const unlisten = relay?.listen(tellAll, () => {
    for (const subscription of subscriptions)
      for (const change of changesIn(subscription.filter)) tell(subscription, change);
  });

  return {
    open({ request, caller, reply }, backend, { capabilities, serverInfo }) {
      const { authInfo } = caller;
      if (String(request.id).length > maxIdLength) return idTooLong;
      const wish = readFilter(request.params?.notifications);
      if (!wish) return wishMissing;
      const principal = principalKey(authInfo);
      const refusal = streams.begin(principal);
      if (refusal) return refusalAnswer(refusal);

      const filter = honouredFilter(wish, capabilities);
      const stream = reply.stream();
      stream.onClose(() => streams.end(principal));
      const subscription = { id: request.id, account: accountOf(authInfo), filter, stream, serverInfo };
      say(subscription, 'notifications/subscriptions/acknowledged', { notifications: filter });
      if (Object.keys(filter).length === 0) {
        endWithResult(subscription);
        return undefined;
      }
      subscriptions.add(subscription);
      const unwatch = accessWatch.watch(authInfo, () => endWithResult(subscription));
      const unlisten = backend.listen?.(
        filter,
        { request, caller },
        { tell: (change) => tell(subscription, change), ended: () => endWithResult(subscription) },
      );
      stream.onClose(() => {
        subscriptions.delete(subscription);
        unwatch();
        unlisten?.();
      });
      return undefined;
    },
    publish(change) {
      tellAll(change);
      relay?.tell(change);
    },
    close() {
      unlisten?.();
      for (const subscription of subscriptions) endWithResult(subscription);
    },
  };
}

/** Returns issuer and subject of a caller: the owner of data, whatever client reads it. */
export function accountOf({ issuer, subject }: AuthInfo): string {
  return JSON.stringify([issuer, subject]);
}

function say({ id, stream }: Subscription, method: string, params: Record<string, unknown> = {}): void {
  const _meta = { ...(params._meta as object | undefined), [SUBSCRIPTION_ID_META_KEY]: id };
  stream.send(JSON.stringify({ jsonrpc: '2.0', method, params: { ...params, _meta } }));
}

function tell(subscription: Subscription, change: Change): void {
  if (wants(subscription.filter, change)) say(subscription, change.method, change.params);
}

function endWithResult({ id, stream, serverInfo }: Subscription): void {
  const _meta = {
    [SUBSCRIPTION_ID_META_KEY]: id,
    ...(serverInfo === undefined ? {} : { [SERVER_INFO_META_KEY]: serverInfo }),
  };
  stream.send(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta } }));
  stream.end();
}

/** Longest id of a subscription, in characters: every message of its stream repeats it. */
const maxIdLength = 1024;

const idTooLong: Answer = {
  status: 400,
  error: {
    code: errorCodes.invalidRequest,
    message: 'Invalid request: the id of a subscription is too long.',
  },
};

const wishMissing: Answer = {
  status: 200,
  error: {
    code: errorCodes.invalidParams,
    message:
      'Invalid params: notifications must say what to listen to, each kind with true or a list of URIs.',
  },
};

export const listenMethod = 'subscriptions/listen';

/** Most resources one stream may be about, and how long their URIs may be together, in characters (T-145). */
const maxResources = 1000;
const maxResourcesLength = 131_072;

const lists = ['tools', 'prompts', 'resources'] as const;

/**
 * Reads the filter of a subscription.
 * @param wish `params.notifications` of `subscriptions/listen`
 * @returns undefined if it is not valid
 * @see MCP 2026-07-28 "Subscriptions" (C5-01)
 */
export function readFilter(wish: unknown): SubscriptionFilter | undefined {
  if (typeof wish !== 'object' || wish === null || Array.isArray(wish)) return undefined;
  const given = wish as Record<string, unknown>;
  const filter: SubscriptionFilter = {};
  for (const list of lists) {
    const wanted = given[`${list}ListChanged`];
    if (wanted === true) filter[`${list}ListChanged`] = true;
    else if (wanted !== undefined && wanted !== false) return undefined;
  }
  const uris = given.resourceSubscriptions;
  if (uris === undefined) return filter;
  if (!Array.isArray(uris) || uris.length > maxResources) return undefined;
  if (!uris.every((uri): uri is string => typeof uri === 'string')) return undefined;
  if (uris.join('').length > maxResourcesLength) return undefined;
  return uris.length === 0 ? filter : { ...filter, resourceSubscriptions: uris };
}

/**
 * Returns the part of a filter that the server can notify about.
 * @param capabilities of the server
 */
export function honouredFilter(
  wish: SubscriptionFilter,
  capabilities: Record<string, unknown>,
): SubscriptionFilter {
  const can = (part: string, ability: string): boolean =>
    (capabilities[part] as Record<string, unknown> | undefined)?.[ability] === true;
  const honoured: SubscriptionFilter = {};
  for (const list of lists)
    if (wish[`${list}ListChanged`] && can(list, 'listChanged')) honoured[`${list}ListChanged`] = true;
  if (wish.resourceSubscriptions && can('resources', 'subscribe'))
    honoured.resourceSubscriptions = wish.resourceSubscriptions;
  return honoured;
}

/** Lists the changes that a client listens to. */
function changesIn(filter: SubscriptionFilter): Change[] {
  return [
    ...lists
      .filter((list) => filter[`${list}ListChanged`])
      .map((list) => ({ method: `notifications/${list}/list_changed` })),
    ...(filter.resourceSubscriptions ?? []).map((uri) => ({
      method: 'notifications/resources/updated',
      params: { uri },
    })),
  ];
}

/** Returns true if a client listens to a change. */
export function wants(filter: SubscriptionFilter, { method, params }: Change): boolean {
  if (method === 'notifications/resources/updated')
    return filter.resourceSubscriptions?.some((uri) => uri === params?.uri) === true;
  return lists.some(
    (list) => method === `notifications/${list}/list_changed` && filter[`${list}ListChanged`],
  );
}
