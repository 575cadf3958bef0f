import type { RequestId } from '@modelcontextprotocol/server';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { Exchange } from '../http/exchange.ts';
import { type Refusal, sendRefusal } from '../http/refusal.ts';
import type { Answer, JsonRpcError, Message } from '../protocol.ts';
import { internalError } from '../sdk/json-rpc-errors.ts';
import type { HeaderMismatch } from './mirrored-headers.ts';

/** Returns the error for a header that differs from the body (B5-04). */
export function headerMismatch({ header, problem }: HeaderMismatch): Answer {
  const message = `Bad Request: the headers and the body disagree. ${header}: ${problem}.`;
  return {
    status: 400,
    error: { code: errorCodes.headerMismatch, message, data: { mismatch: { header, body: problem } } },
  };
}

/** The error for a request state that was not issued for this request (C4-03). */
export const stateNotValid: Answer = {
  status: 200,
  error: {
    code: errorCodes.invalidParams,
    message:
      'Invalid params: requestState is not valid for this request, or too old. Send the request without it.',
  },
};

/**
 * Sends the response to a request that never became a call, unless its client has disconnected.
 * @param id of the request; undefined for notifications
 */
export function sendAnswer(
  { reply, calls }: Pick<Exchange, 'reply' | 'calls'>,
  id: RequestId | undefined,
  answer: Answer,
): void {
  const { status, headers, result, error, refusal } = answer;
  const content = error ? { error } : { result };
  const message = { jsonrpc: '2.0', id: id ?? null, ...content } as Message;
  const send = (told: Message): void => {
    if (!reply.isClosed) reply.json(status, told, headers);
  };
  if (calls) calls.answer(message, send, refusal);
  else send(message);
}

/** Returns the response for a refusal, for requests that are refused behind the transport. */
export function refusalAnswer(refusal: Refusal): Answer {
  let answer: Answer = failedInside;
  sendRefusal(refusal, {
    json(status, body, headers = {}) {
      answer = { status, headers, error: (body as { error: JsonRpcError }).error, refusal: refusal.reason };
    },
  });
  return answer;
}

/** The error if the server ended before it responded. */
export const serverGone: Answer = {
  status: 500,
  error: {
    code: errorCodes.internalError,
    message:
      'The MCP server ended before it answered. Look whether the call had its effect before you send it again.',
  },
};

/** The error for a failure inside Gatehouse or the server. */
export const failedInside: Answer = { status: 500, error: internalError };
