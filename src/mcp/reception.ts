import { McpServer, Server, type Transport } from '@modelcontextprotocol/server';
import type { Message } from './checks/messages.ts';
import type { McpLike } from './mcp-like.ts';
import { keepRunningRequestsInFlight } from './running-requests.ts';

/** Takes the messages of a transport. */
export type Take = NonNullable<Transport['onmessage']>;

/**
 * Who takes the messages of a transport. The SDK finds out what a message is by trying its schemas in turn, those of
 * answers first: for a request two of them fail, which costs more than the schemas that count. Where it is known what a
 * message is, and that nobody but the SDK itself listens, a request goes to where the SDK takes requests.
 */
export class Reception {
  #take: Take | undefined;
  #timesSet = 0;
  #takeRequest: Take | undefined;

  /** What stands as `onmessage` of the transport. */
  get take(): Take | undefined {
    return this.#take;
  }

  set take(take: Take | undefined) {
    this.#take = take;
    this.#timesSet++;
  }

  /** Takes note that a server was connected to the transport. */
  connected(server: McpLike, transport: Transport): void {
    this.#takeRequest = requestTakerOf(server, transport);
    keepRunningRequestsInFlight(server);
  }

  /**
   * Gives who takes a message whose frame is right: `readMessages` has found it so, or we have written it.
   * @returns undefined where nothing is connected
   */
  takerOf({ id, method }: Message): Take | undefined {
    const isRequest = id !== undefined && method !== undefined;
    // Set again, `onmessage` is another's, who wants to see everything: programs that trace servers do that.
    return (isRequest && this.#timesSet === 1 && this.#takeRequest) || this.#take;
  }
}

/** Where the SDK takes requests: no public member of it, so that a server without it is handed all in the usual way. */
function requestTakerOf(server: McpLike, transport: Transport): Take | undefined {
  const inner = server instanceof McpServer ? server.server : server;
  if (!(inner instanceof Server) || inner.transport !== transport) return undefined;
  const known = inner as unknown as { _onrequest?: unknown };
  if (typeof known._onrequest !== 'function' || known._onrequest.length !== 2) return undefined;
  const protocol = known as { _onrequest: Take };
  return (message, extra) => protocol._onrequest(message, extra);
}
