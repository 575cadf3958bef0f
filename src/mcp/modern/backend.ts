import type { IncomingHttpHeaders } from 'node:http';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { Message, RequestMessage } from '../checks/messages.ts';
import type { JsonRpcError } from '../conversations/conversation.ts';
import type { McpLike } from '../mcp-like.ts';
import type { Change } from './changes.ts';
import type { SubscriptionFilter } from './subscription-filter.ts';

/** The answer to one request: a result or an error, and the status and headers of the HTTP answer. */
export type Answer = {
  status: number;
  headers?: Record<string, string>;
  /** The server that gave it, where one is known. */
  by?: McpLike;
} & ({ result: Record<string, unknown>; error?: undefined } | { error: JsonRpcError; result?: undefined });

/** Who sent a request, and what of its HTTP request may be known behind the gate. */
export interface Caller {
  authInfo: AuthInfo;
  headers: IncomingHttpHeaders;
  /** Builds the HTTP request a tool may see, without credentials (T-105). */
  request(): Request;
}

/** A request on its way through a server. */
export interface Call {
  readonly request: RequestMessage;
  readonly caller: Caller;
  /** Takes a notification that belongs to the request, ids and tokens those of the client. */
  notify(notification: Message): void;
  /** Takes the answer; the first one counts. */
  answer(answer: Answer): void;
}

/** What `server/discover` tells of a server. */
export interface Discovery {
  capabilities: Record<string, unknown>;
  serverInfo: unknown;
}

/** One client that listens to changes. */
export interface ChangeListener {
  /** The server has confirmed that it tells of changes from now on; where it cannot be known, nothing is said. */
  begun?(): void;
  /** Takes a change the client listens to, or another. */
  tell(change: Change): void;
  /** Nothing more will be told: the server ended, or there never was one. */
  ended(): void;
}

/** What answers the requests of 2026-07-28: a server for all of them, one a request, or one of an older era. */
export interface Backend {
  /** The server, where it is the same for every request. */
  readonly server?: McpLike;
  /**
   * What of the `_meta` of requests is checked behind it, and answered with its status: all of it, all but whether
   * what every request has is there, or nothing.
   */
  readonly checksEnvelope: 'all' | 'values' | 'nothing';
  /** Whether it has the scopes of each request checked itself, because servers declare some that are made for it. */
  readonly checksScopes?: boolean;
  /**
   * Hands a request over.
   * @returns cancels it: nothing is heard of it any more (B5-14)
   */
  begin(call: Call): () => void;
  /** Hands a notification of a client over. */
  notify(notification: Message, caller: Caller): void;
  /** Tells what the server can do, as far as the caller may see it. */
  discover(caller: Caller): Promise<Discovery>;
  /**
   * Hears of changes for one client that listens, where the server tells nobody else of them.
   * @param filter what the client listens to
   * @returns stops it
   */
  listen?(
    filter: SubscriptionFilter,
    call: Pick<Call, 'request' | 'caller'>,
    listener: ChangeListener,
  ): () => void;
  /** The input schema of a tool, where the headers of a call must be checked before it is handed over. */
  inputSchemaOf?(tool: string, caller: Caller): Promise<unknown>;
  close(): Promise<void>;
}
