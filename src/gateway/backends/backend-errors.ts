import type { JsonRpcError } from '../../mcp/conversations/conversation.ts';

/** Why a backend does not answer; stands in `data.reason` of the error. */
export type BackendFailure =
  | 'backend_not_started'
  | 'backend_start_timed_out'
  | 'backend_ended'
  | 'backend_answer_unreadable'
  | 'backend_answer_too_large'
  | 'backend_not_reading';

const sayings: Readonly<Record<BackendFailure, string>> = {
  backend_not_started:
    'could not be started. Its operator finds the reason in the log of the server; try again when it is mended.',
  backend_start_timed_out:
    'did not answer initialize in time. Try again; if it stays so, its operator finds more in the log of the server.',
  backend_ended:
    'ended while the call ran, which may still have had its effect. Send the request again: the server is started anew.',
  backend_answer_unreadable: 'answered with something that is no JSON-RPC response. Tell its operator.',
  backend_answer_too_large: 'wrote a line that is longer than allowed. Ask it for less at once.',
  backend_not_reading: 'does not read what it is sent. Try again later.',
};

/**
 * Gives the JSON-RPC error for a call that a backend does not answer: which server, and what to do. What only its
 * operator may know, such as its command line, is not in it (T-196).
 * @param name what the backend is called
 */
export function backendError(failure: BackendFailure, name: string): JsonRpcError {
  const message = `The MCP server ${name} ${sayings[failure]}`;
  return { code: -32603, message, data: { reason: failure } };
}
