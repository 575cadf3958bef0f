import type { Answer, Caller, JsonRpcError, Message, RequestMessage } from '../../mcp/protocol.ts';
import type { BackendFailure, FullLimit } from '../backends/backend-errors.ts';

/** Details of a failure for the operator. */
export interface FailureDetail {
  reason: BackendFailure;
  /** HTTP status, if there is one. */
  status?: number | undefined;
  /** The system's error code. */
  code?: string | undefined;
  /** Target of a redirect. */
  location?: string | undefined;
  /** Addresses with ports that refused the connection. */
  address?: string | undefined;
  /** The reached limit, for `backend_busy`. */
  full?: FullLimit | undefined;
}

/** Reason why a request gets no response. */
export interface ModernFailure {
  /** Error for the caller. */
  error: JsonRpcError;
  /** True if the connection broke, or there was none: the same request may succeed at once. */
  isBroken: boolean;
  /** True if the server did not understand the request: it may speak an older revision. */
  isOther: boolean;
  /** Absent if the caller is the reason. */
  detail?: FailureDetail;
}

/** Receives the result of one request. */
export interface ModernHearing {
  /** A notification that belongs to the request. */
  notified(notification: Message): void;
  /** The response. Nothing follows. */
  answered(answer: Answer): void;
  /** There is no response. Nothing follows. */
  failed(failure: ModernFailure): void;
}

/** Connection to one MCP server of 2026-07-28, over any transport. */
export interface ModernLink {
  /**
   * True if messages are sent over HTTP: then headers repeat the parameters of tools that ask for it (B5-08), and every
   * response has a status.
   */
  readonly isHttp: boolean;
  /**
   * Sends a request, whose id is unique on the link. The listener is not called before this returns.
   * @param parameters headers `Mcp-Param-*`, names and values in turn
   * @returns cancels the request, as the transport requires; the listener is not called afterwards
   */
  send(
    request: RequestMessage,
    from: { caller: Caller; parameters: readonly string[] },
    hearing: ModernHearing,
  ): () => void;
  /** Ends the subscriptions of an account, which are opened again with its current credentials. */
  renew(account: { issuer: string; subject: string }): void;
  /** Ends all requests. */
  close(): Promise<void>;
}
