import type { Answer, Caller, JsonRpcError, Message, RequestMessage } from '../../mcp/protocol.ts';
import type { BackendFailure, FullLimit } from '../backends/backend-errors.ts';

/** Details of a failure, for the operator only. */
export interface FailureDetail {
  reason: BackendFailure;
  /** HTTP status, if there is one. */
  status?: number | undefined;
  /** The system's error code. */
  code?: string | undefined;
  /** Target of a redirect. */
  location?: string | undefined;
  /** Addresses with ports at which there is nobody. */
  address?: string | undefined;
  /** The reached limit, if it is `backend_busy`. */
  full?: FullLimit | undefined;
}

/** Reason why a request gets no response. */
export interface ModernFailure {
  /** Message for its caller. */
  error: JsonRpcError;
  /** The connection broke, or there was none: the same request may go well when it is sent again. */
  isBroken: boolean;
  /** The server does not know what was asked of it: it may be one of an older revision. */
  isOther: boolean;
  /** Absent if it is the caller's own doing. */
  detail?: FailureDetail;
}

/** Takes what comes of one request. */
export interface ModernHearing {
  /** A notification that came for it. */
  notified(notification: Message): void;
  /** Its answer. Nothing comes after it. */
  answered(answer: Answer): void;
  /** There will be no answer. Nothing comes afterwards. */
  failed(failure: ModernFailure): void;
}

/** The way to one MCP server that speaks 2026-07-28, whatever the messages are carried by. */
export interface ModernLink {
  /**
   * True if messages go by HTTP: then parameters of tools that say so are repeated in headers (B5-08), and every answer
   * has a status of its own.
   */
  readonly isHttp: boolean;
  /**
   * Sends a request, whose id is unique on the link. Nothing is heard before this returns.
   * @param parameters headers `Mcp-Param-*`, names and values in turn
   * @returns cancels it: the server is told in the way of the transport, and nothing is heard any more
   */
  send(
    request: RequestMessage,
    from: { caller: Caller; parameters: readonly string[] },
    hearing: ModernHearing,
  ): () => void;
  /** Ends the streams of those who listen for an account: they are opened again with the credentials it has now. */
  renew(account: { issuer: string; subject: string }): void;
  /** Ends what runs. */
  close(): Promise<void>;
}
