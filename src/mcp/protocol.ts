import type { RequestId } from '@modelcontextprotocol/server';
import type { AuthInfo } from '../oauth/auth-info.ts';
import type { Message } from './reading/frames.ts';
import type { McpLike } from './sdk/mcp-like.ts';

/** The client's part of `initialize`. */
export interface InitializeParams {
  protocolVersion: string;
  capabilities: Record<string, unknown>;
  clientInfo: { name: string; version: string };
  [name: string]: unknown;
}

/** The answer of a server to `initialize`. */
export interface InitializeResult {
  protocolVersion: string;
  capabilities: Record<string, unknown>;
  serverInfo: { name: string; version: string };
  [name: string]: unknown;
}

/** A JSON-RPC error object. */
export interface JsonRpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** The sender of a message, and the parts of its HTTP request that a tool may see (no credentials, T-105). */
export interface Sender {
  /** Absent if nobody is identified: a local host over stdio. */
  authInfo?: AuthInfo;
  /** Builds the HTTP request a tool may see; called when a tool looks, which most never do. */
  request?(): Request;
  /** True if who opens a conversation answers by itself what its client did not declare that it can be asked. */
  answersUndeclared?: boolean;
  /** Ends the stream the answer would go to, so that the client comes back for it later (B4-02). */
  closeSSEStream?(): void;
  /** Ends the session's own stream in the same way. */
  closeStandaloneSSEStream?(): void;
}

/** Takes what a server says in a conversation. */
export interface Listener {
  /**
   * Takes one message of the server: an answer, a request or a notification. Ids and progress tokens of the client are
   * those the client chose; ids of the server's own requests are unique in the installation.
   * @param relatedTo id of the client's request during which it was sent, if that is known
   */
  hear(message: Message, relatedTo?: RequestId): void;
  /** The server ended the conversation. */
  ended(): void;
}

/**
 * One client's talk with an MCP server of a revision up to 2025-11-25, after `initialize` was answered: the same to
 * every transport, whether the server behind it is its own or serves others too.
 */
export interface Conversation {
  /** The server that answers; it may declare which scopes its tools need. */
  readonly server: McpLike;
  /**
   * Hands the server a message of the client: a request, a notification, or the answer to a request of the server.
   * An answer nobody waits for is dropped (T-128).
   */
  say(message: Message, sender: Sender): void;
  /** Ends it: running calls are cancelled, and the listener hears nothing more. */
  end(): Promise<void>;
}

/** A conversation that began, with the server's answer to `initialize`; or the error it answered with. */
export type Opening = { conversation: Conversation; result: InitializeResult } | { error: JsonRpcError };

/** Begins conversations with MCP servers. */
export interface Conversations {
  /**
   * Has `initialize` answered and gives the conversation. `notifications/initialized` is left to the caller to say.
   * @throws what the making of a server throws
   */
  open(initialize: InitializeParams, sender: Sender, listener: Listener): Promise<Opening>;
  /** Ends all conversations and the servers behind them. */
  close(): Promise<void>;
}
