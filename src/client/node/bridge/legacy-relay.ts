import {
  isInitializedNotification,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { isAboutTheRequest } from '../../../oauth/mcp-error-codes.ts';
import { ClientError } from '../../client-error.ts';
import type { RenewingTransport } from '../../transports/renewing-transport.ts';
import { createServerTransport, type ServerTransportOptions } from '../../transports/server-transports.ts';
import { describe, failedAnswer, type HostSide, type Relay } from './relay.ts';

/** The result of `initialize` at a server. */
export type LegacyOpening =
  | { relay: Relay }
  | {
      refused: unknown;
      /** The error response of the server. */
      answer?: JSONRPCErrorResponse;
      /** True if the server may support another revision, or the old HTTP+SSE. */
      mayBeOther: boolean;
    };

/**
 * Relays messages between a host up to 2025-11-25 and a server of the same revisions, unchanged in both
 * directions: requests of the server, progress, cancellation and notifications keep their ids.
 */
class LegacyRelay implements Relay {
  readonly #transport: RenewingTransport;
  readonly #host: HostSide;
  #greeted: Promise<void> = Promise.resolve();

  constructor(transport: RenewingTransport, host: HostSide) {
    this.#transport = transport;
    this.#host = host;
    transport.onmessage = (message) => host.write(message);
  }

  take(message: JSONRPCMessage): void {
    const sent = this.#greeted.then(() => this.#transport.send(message));
    // Servers reject messages that arrive before `notifications/initialized`.
    if (isInitializedNotification(message)) this.#greeted = sent.catch(() => undefined);
    sent.catch((failure: unknown) => {
      if (isJSONRPCRequest(message)) this.#host.write(failedAnswer(message.id, failure));
      else this.#host.say(`A message did not reach the server: ${describe(failure)}`);
    });
  }

  end(): Promise<void> {
    return this.#transport.end();
  }
}

/**
 * Sends `initialize`, and returns the response.
 * @throws the errors of the transport
 */
async function initialize(transport: RenewingTransport, request: JSONRPCRequest): Promise<JSONRPCMessage> {
  const { promise: answered, resolve, reject } = Promise.withResolvers<JSONRPCMessage>();
  transport.onmessage = (message) => {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) resolve(message);
  };
  transport.onclose = () => reject(new ClientError('unreachable', 'The server ended the connection.'));
  answered.catch(() => undefined);
  await transport.start();
  await transport.send(request);
  return await answered;
}

/**
 * Opens a connection to a server of the revisions up to 2025-11-25 with the host's `initialize`, and sends
 * the result to the host.
 * @param kind the transport
 * @param request the host's `initialize`
 */
async function open(
  kind: 'http' | 'sse',
  options: ServerTransportOptions,
  request: JSONRPCRequest,
  host: HostSide,
): Promise<LegacyOpening> {
  const transport = createServerTransport(kind, options);
  try {
    const answer = await initialize(transport, request);
    if (isJSONRPCErrorResponse(answer)) {
      await transport.close();
      return { refused: new ClientError('server_error', answer.error.message), answer, mayBeOther: true };
    }
    transport.onclose = undefined;
    const relay = new LegacyRelay(transport, host);
    if (isJSONRPCResultResponse(answer)) transport.setProtocolVersion(String(answer.result.protocolVersion));
    host.write(answer);
    return { relay };
  } catch (refused) {
    await transport.close();
    return { refused, mayBeOther: refused instanceof SdkHttpError && isAboutTheRequest(refused.status) };
  }
}

/** Opens streamable HTTP. See {@link open}. */
export function openStreamableRelay(
  options: ServerTransportOptions,
  request: JSONRPCRequest,
  host: HostSide,
): Promise<LegacyOpening> {
  return open('http', options, request, host);
}

/** Opens the old HTTP+SSE. See {@link open}. */
export function openEventStreamRelay(
  options: ServerTransportOptions,
  request: JSONRPCRequest,
  host: HostSide,
): Promise<LegacyOpening> {
  return open('sse', options, request, host);
}
