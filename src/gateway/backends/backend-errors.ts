import { maxValues, ownData, type Refusal } from '../../mcp/building-blocks.ts';
import type { JsonRpcError } from '../../mcp/protocol.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';

/** Reason why a backend does not respond; it is `data.reason` of the error. */
export type BackendFailure =
  | 'backend_not_started'
  | 'backend_start_timed_out'
  | 'backend_ended'
  | 'backend_answer_unreadable'
  | 'backend_answer_too_large'
  | 'backend_not_reading'
  | 'backend_unresponsive'
  | 'backend_unreachable'
  | 'backend_certificate_invalid'
  | 'backend_not_private'
  | 'backend_timed_out'
  | 'backend_redirected'
  | 'backend_endpoint_elsewhere'
  | 'backend_framing'
  | 'backend_not_http'
  | 'backend_not_mcp'
  | 'backend_wants_login'
  | 'backend_forbids'
  | 'backend_refused'
  | 'backend_failed'
  | 'backend_overloaded'
  | 'backend_session_lost'
  | 'backend_busy'
  | 'backend_call_timed_out'
  | 'backend_resting'
  | 'too_many_held_bytes';

/** The limit that is reached if a backend is `backend_busy`. */
export type FullLimit = 'calls' | 'streams' | 'session_start';

const fullSayings: Readonly<Record<FullLimit, string>> = {
  calls:
    'has too many calls of your account under way, and as many wait as may. Wait until some of them are answered.',
  streams:
    'has as many streams of sessions open as it may. End sessions that you do not need, or try again later.',
  session_start:
    'has not begun the session yet, and too many calls wait for that. Wait until some of them are answered.',
};

const sayings: Readonly<Record<BackendFailure, string>> = {
  backend_not_started:
    'could not be started. Its operator finds the reason in the log of the server; try again when it is mended.',
  backend_start_timed_out:
    'did not answer initialize in time. Try again in a minute; if it stays so, its operator finds more in the log of the server.',
  backend_ended:
    'ended while the call ran. Look whether it had its effect before you send it again; the server is started anew.',
  backend_answer_unreadable: 'answered with something that is no JSON-RPC response. Tell its operator.',
  backend_answer_too_large: 'answered with more than is read at once. Ask it for less.',
  backend_not_reading: 'does not read what it is sent. Try again later.',
  backend_unresponsive:
    'answers no pings any more, and is started anew. Look whether the call had its effect before you send it again.',
  backend_unreachable: 'cannot be reached. Try again; if it stays so, tell its operator.',
  backend_certificate_invalid: 'cannot be reached: its certificate is not valid. Tell its operator.',
  backend_not_private:
    'is not asked: its address is on the public internet, and it is to be reached without TLS. Tell its operator.',
  backend_timed_out:
    'did not answer in time. Look whether what was asked had its effect before you send it again, or ask it for less.',
  backend_redirected: 'answered with a redirect, which is not followed. Its operator has to correct its URL.',
  backend_endpoint_elsewhere:
    'wants its messages posted to another origin than its own, which is not done. Its operator has to correct the endpoint that it announces, or its URL.',
  backend_framing:
    'puts Content-Length headers before its messages, as language servers do. MCP has one message on each line: its operator has to use another version or option of the program.',
  backend_not_http:
    'sends answers that are not HTTP/1.1 as it is written down, such as lines that end without CR. Tell its operator.',
  backend_not_mcp: 'is not at its URL: nothing there speaks MCP. Its operator has to correct the URL.',
  backend_wants_login:
    'does not let the gateway in (401). Its operator has to give the gateway valid credentials.',
  backend_forbids: 'does not allow this with the credentials of the gateway (403). Ask its operator.',
  backend_refused: 'refused the request. Its operator finds the status in the log of the gateway.',
  backend_failed:
    'failed on its side. Look whether what was asked had its effect before you send it again; if it stays so, tell its operator.',
  backend_overloaded: 'has too much to do. Try again later.',
  backend_session_lost: 'has forgotten the session and does not begin one like it. Start a new session.',
  backend_busy: 'has too many calls of yours under way. Wait until some of them are answered.',
  backend_call_timed_out:
    'did not answer in time, and was told to stop. Look whether the call had its effect before you send it again, or ask it for less at once; its operator can give it longer.',
  backend_resting: 'failed several times in a row and is left alone for a while.',
  too_many_held_bytes:
    'answered, but too many bytes wait for clients already. Look whether the call had its effect; read the answers that wait, or ask for less at once.',
};

const timedOut = ['backend_timed_out', 'backend_call_timed_out', 'backend_start_timed_out'];
const refused = [
  'backend_busy',
  'backend_resting',
  'backend_processes_exhausted',
  'tool_called_too_often',
  'tool_called_too_often_at_once',
];
const others = [
  'arguments_not_checked',
  'backend_restarting',
  'credential_missing',
  'credential_no_person',
  'credential_refused',
  'credential_unavailable',
  'credentials_unavailable',
  'question_not_clean',
];

/**
 * Outcomes of the errors that the gateway itself makes, by `data.reason` (see `ownData`): limits and breakers refuse a
 * call, and time limits end it.
 */
export const failureOutcomes: ReadonlyMap<string, 'error' | 'refused' | 'timed_out'> = new Map<
  string,
  'error' | 'refused' | 'timed_out'
>([
  ...[...Object.keys(sayings), ...others].map((reason) => [reason, 'error'] as const),
  ...timedOut.map((reason) => [reason, 'timed_out'] as const),
  ...refused.map((reason) => [reason, 'refused'] as const),
]);

/** Errors that the caller can act on have the code of a busy server; the others are internal errors. */
const codes: Readonly<Partial<Record<BackendFailure, number>>> = { backend_busy: -32000 };

/**
 * Returns the JSON-RPC error for a call that a backend does not answer. The message names the server and says what to
 * do. Internal details, such as a command line, are for the operator only and not in it (T-196).
 * @param full the limit that is reached, for `backend_busy`
 */
export function backendError(failure: BackendFailure, name: string, full?: FullLimit): JsonRpcError {
  const message = `The MCP server ${name} ${full ? fullSayings[full] : sayings[failure]}`;
  return { code: codes[failure] ?? errorCodes.internalError, message, data: ownData({ reason: failure }) };
}

/**
 * Returns the JSON-RPC error for a call to a backend that failed, and is not restarted yet.
 * @param failure reason of the last failure
 * @param waitMs remaining time until a restart is possible, in milliseconds
 */
export function restartingError(failure: BackendFailure, name: string, waitMs: number): JsonRpcError {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  const { ended, again, advice = lasting } = endings[failure] ?? { ended: 'failed', again: 'started' };
  const message = `The MCP server ${name} ${ended}, and is ${again} again in ${retryAfterSeconds} s. ${advice}`;
  return {
    code: errorCodes.internalError,
    message,
    data: ownData({ reason: 'backend_restarting', failure, retryAfterSeconds }),
  };
}

/** Advice for a failure that may not happen again. A caller who sees it again and again also learns who can help. */
const lasting =
  'Send the request again then; if it stays so, its operator finds the reason in the log of the server.';

const endings: Partial<Record<BackendFailure, { ended: string; again: string; advice?: string }>> = {
  backend_not_started: {
    ended: 'could not be started',
    again: 'started',
    advice:
      'Its operator finds the reason in the log of the server; send the request again when it is mended.',
  },
  backend_start_timed_out: { ended: 'did not answer initialize in time', again: 'asked' },
  backend_ended: { ended: 'ended several times', again: 'started' },
};

/** Maximum number of values in a response of a backend. */
export const defaultMaxAnswerValues = maxValues;

/** Returns the failure for a response that could not be read: it is too large, or no response at all. */
export function failureOfAnswer(reason: Refusal['reason']): BackendFailure {
  return reason === 'nested_too_deep' || reason === 'too_many_values' || reason === 'too_many_members'
    ? 'backend_answer_too_large'
    : 'backend_answer_unreadable';
}
