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
import { ClientError } from '../../client-error.ts';
import { isAboutTheRequest } from '../../transports/about-the-request.ts';
import type { RenewingTransport } from '../../transports/renewing-transport.ts';
import { createServerTransport, type ServerTransportOptions } from '../../transports/server-transports.ts';
import { describe, failedAnswer, type HostSide, type Relay } from './relay.ts';

/** What a server made of `initialize`. */
export type LegacyOpening =
  | { relay: Relay }
  | {
      refused: unknown;
      /** The error it was answered with. */
      answer?: JSONRPCErrorResponse;
      /** Whether the server may be one of another revision, or of the old HTTP+SSE. */
      mayBeOther: boolean;
    };

/**
 * Brings the messages of a host up to 2025-11-25 to a server of the same revisions as they are, both ways: requests of
 * the server, progress, cancellation and notifications keep their ids.
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
    // Servers refuse what overtakes `notifications/initialized`.
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

/** Sends `initialize`, and waits for what it is answered with. @throws what the transport throws */
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
 * Opens a connection to a server of the revisions up to 2025-11-25, as the host asks for it, and hands the host the
 * server's answer where that is a result.
 * @param kind which transport
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
