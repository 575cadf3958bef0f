import { SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import { changeOf, listenMethod } from '../../mcp/building-blocks.ts';
import type {
  Call,
  Change,
  ChangeListener,
  Message,
  RequestMessage,
  SubscriptionFilter,
} from '../../mcp/protocol.ts';
import type { ModernHearing, ModernLink } from './modern-link.ts';

/** First and longest wait before a subscription that broke is opened again, in milliseconds. */
const firstWaitMs = 500;
const longestWaitMs = 15_000;

const acknowledgement = 'notifications/subscriptions/acknowledged';

/** Parts of the subscription. */
export interface ModernListeningOptions {
  link: ModernLink;
  filter: SubscriptionFilter;
  /** The request with which somebody listens, and who. */
  about: Pick<Call, 'request' | 'caller'>;
  listener: ChangeListener;
  /** Returns an id that is unique on the link. */
  nextId: () => number;
}

/**
 * One subscription at a server of 2026-07-28, for one listener. If it breaks, it is opened again while the listener
 * stays; then everything is reported as changed, since nobody knows what was missed.
 * @see MCP 2026-07-28 "Subscriptions" (B1-06, C5-01, C5-02, C5-03)
 */
export class ModernListening {
  readonly #options: ModernListeningOptions;
  #stop: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #waitMs = firstWaitMs;
  #hasBegun = false;
  #isOver = false;

  /** Opens it at once. */
  constructor(options: ModernListeningOptions) {
    this.#options = options;
    this.#open();
  }

  /** Nobody listens any more. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#stop?.();
  }

  #open(): void {
    const { link, filter, about, nextId } = this.#options;
    const { progressToken: _token, ...meta } = Object(about.request.params?._meta) as Record<string, unknown>;
    const request: RequestMessage = {
      jsonrpc: '2.0',
      id: nextId(),
      method: listenMethod,
      params: { notifications: filter, _meta: meta },
    };
    this.#stop = link.send(request, { caller: about.caller, parameters: [] }, this.#hearing);
  }

  readonly #hearing: ModernHearing = {
    notified: (notification) => {
      if (this.#isOver) return;
      if (notification.method === acknowledgement) this.#acknowledged(notification);
      else {
        const change = changeOf(notification);
        if (change) this.#options.listener.tell(withoutSubscription(change));
      }
    },
    // A server that ends it in order may have more to tell when it is back; one that refuses it has not.
    answered: ({ error }) => (error ? this.#over() : this.#again()),
    failed: ({ isOther }) => (isOther ? this.#over() : this.#again()),
  };

  #acknowledged({ params }: Message): void {
    const { listener, filter } = this.#options;
    if (Object.keys(Object(params?.notifications)).length === 0) {
      this.#stop?.();
      this.#over();
      return;
    }
    this.#waitMs = firstWaitMs;
    if (this.#hasBegun) for (const change of everyChange(filter)) listener.tell(change);
    else listener.begun?.();
    this.#hasBegun = true;
  }

  #again(): void {
    if (this.#isOver) return;
    this.#timer = setTimeout(() => this.#open(), this.#waitMs).unref();
    this.#waitMs = Math.min(this.#waitMs * 2, longestWaitMs);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.listener.ended();
  }
}

/** The id is ours; who listens has another. */
function withoutSubscription({ method, params }: Change): Change {
  if (params === undefined) return { method };
  const { _meta: meta, ...content } = params;
  const { [SUBSCRIPTION_ID_META_KEY]: _id, ...others } = Object(meta) as Record<string, unknown>;
  return {
    method,
    params: Object.keys(others).length === 0 ? content : { ...content, _meta: others },
  };
}

function everyChange(filter: SubscriptionFilter): Change[] {
  const lists = (['tools', 'prompts', 'resources'] as const).filter((list) => filter[`${list}ListChanged`]);
  const uris = filter.resourceSubscriptions ?? [];
  return [
    ...lists.map((list) => ({ method: `notifications/${list}/list_changed` })),
    ...uris.map((uri) => ({ method: 'notifications/resources/updated', params: { uri } })),
  ];
}
