import type { IncomingHttpHeaders } from 'node:http';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { JsonRpcError } from '../protocol.ts';
import type { Change } from '../reading/changes.ts';
import type { Message, RequestMessage } from '../reading/frames.ts';
import type { McpLike } from '../sdk/mcp-like.ts';
import type { SubscriptionFilter } from './subscription-filter.ts';

/** The answer to one request: a result or an error, and the status and headers of the HTTP answer. */
export type Answer = {
  status: number;
  headers?: Record<string, string>;
  /** The server that gave it, if one is known. */
  by?: McpLike;
} & ({ result: Record<string, unknown>; error?: undefined } | { error: JsonRpcError; result?: undefined });

/** The sender of a request, and the parts of its HTTP request that may be known behind the gate. */
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

/** Result of `server/discover`. */
export interface Discovery {
  capabilities: Record<string, unknown>;
  serverInfo: unknown;
}

/** One client that listens to changes. */
export interface ChangeListener {
  /** The server has confirmed that it tells of changes from now on; if it cannot be known, nothing is said. */
  begun?(): void;
  /** Takes a change the client listens to, or another. */
  tell(change: Change): void;
  /** Nothing more will be told: the server ended, or there never was one. */
  ended(): void;
}

/** Serves the requests of 2026-07-28: one server for all of them, one for each request, or one of an older era. */
export interface Backend {
  /** The server, if it is the same for every request. */
  readonly server?: McpLike;
  /**
   * Parts of the requests' `_meta` that the backend checks and rejects with its own status: all; all but the presence
   * of the required members; or none.
   */
  readonly checksEnvelope: 'all' | 'values' | 'nothing';
  /** True if it has the scopes of each request checked itself, because servers declare some that are made for it. */
  readonly checksScopes?: boolean;
  /**
   * Hands a request over.
   * @returns cancels it: nothing is heard of it any more (B5-14)
   */
  begin(call: Call): () => void;
  /** Hands a notification of a client over. */
  notify(notification: Message, caller: Caller): void;
  /** Returns the server's capabilities, as far as the caller may see them. */
  discover(caller: Caller): Promise<Discovery>;
  /**
   * Listens for changes on behalf of one client, if the server reports them only to listeners.
   * @param filter notifications that the client wants
   * @returns stops it
   */
  listen?(
    filter: SubscriptionFilter,
    call: Pick<Call, 'request' | 'caller'>,
    listener: ChangeListener,
  ): () => void;
  /** The input schema of a tool, if the headers of a call must be checked before the call is passed on. */
  inputSchemaOf?(tool: string, caller: Caller): Promise<unknown>;
  close(): Promise<void>;
}
