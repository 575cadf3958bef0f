import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { JsonRpcError } from '../protocol.ts';
import type { RequestSummary } from './serializable.ts';

/** Data of the errors that Gatehouse made: a backend may send the same texts. */
const madeHere = new WeakSet<object>();

/** Returns the data of an error of Gatehouse, which is known by this object from now on. */
export function ownData<Data extends { reason: string }>(data: Data): Data {
  madeHere.add(data);
  return data;
}

/** Returns `data.reason` of an error that Gatehouse made; undefined for every error of a backend. */
export function ownReasonOf({ data }: JsonRpcError): string | undefined {
  return typeof data === 'object' && data !== null && madeHere.has(data)
    ? (data as { reason: string }).reason
    : undefined;
}

export const methodNotFound: JsonRpcError = { code: errorCodes.methodNotFound, message: 'Method not found' };

export const invalidParams: JsonRpcError = {
  code: errorCodes.invalidParams,
  message: 'Invalid params: a member is missing or has not the type that the schema of MCP gives it.',
};

/** Maximum length of a repeated method name, in characters. */
const maxShown = 200;

/** Returns the error for a method that no revision defines and no operator opened by name (FA-02). */
export function methodNotServed(method: string): JsonRpcError {
  const shown = method.slice(0, maxShown);
  return {
    code: errorCodes.methodNotFound,
    message: `Method not found: ${shown} is not served here. An operator can open a method by name (policy.methods).`,
    data: { reason: 'method_not_served' },
  };
}

/** The error for a result of a kind that is not served, such as a task. */
export const resultNotServed: JsonRpcError = {
  code: errorCodes.internalError,
  message:
    'The MCP server answered with a kind of result that is not served here, such as a task. The call may have had its effect.',
  data: { reason: 'result_not_served' },
};

/** The error for a failure inside Gatehouse or the server; the log has the reason. */
export const internalError: JsonRpcError = { code: errorCodes.internalError, message: 'Internal error' };

/** Internal response to a cancelled request, whose client does not wait for one. */
export const requestCancelled: JsonRpcError = {
  code: errorCodes.requestCancelled,
  message: 'The request was cancelled.',
};

/** The error in place of a response for which `limits.heldBytes` has no room. */
export const heldBytesExceeded: JsonRpcError = {
  code: errorCodes.internalError,
  message:
    'The answer is lost: too many bytes wait for clients already. Look whether the call had its effect; read the answers that wait, or ask for less at once.',
  data: ownData({ reason: 'too_many_held_bytes' }),
};

/** Returns that error with the id of a response, or one for each response of a batch. */
export function heldBytesError(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(heldBytesError);
  const { id = null } = Object(answer) as { id?: unknown };
  return { jsonrpc: '2.0', id, error: heldBytesExceeded };
}

/** Methods whose request names a resource. */
const resourceMethods = new Set(['resources/read', 'resources/subscribe', 'resources/unsubscribe']);

/** Codes of SDKs for an unknown resource, and the words that distinguish it from other errors with these codes. */
const saysNotFound: ReadonlyMap<unknown, RegExp> = new Map([
  [errorCodes.invalidParams, /\b(?:not found|unknown|no such|does not exist)\b/i],
  [errorCodes.internalError, /\bresource\b.*\bnot found\b|\b(?:unknown|no such) resource\b/is],
  [0, /\bresource\b.*\bnot found\b|\b(?:unknown|no such) resource\b/is],
]);

/**
 * Returns an error with the code of the revisions up to 2025-11-25 if it reports an unknown resource.
 * @param asked the request: its method, and the URI of the resource
 * @see MCP 2025-11-25 "Resources", error handling (FA-33)
 */
export function withLegacyCode(error: JsonRpcError, { method, name }: RequestSummary): JsonRpcError {
  if (!resourceMethods.has(method) || !saysNotFound.get(error.code)?.test(String(error.message)))
    return error;
  return { data: { uri: name }, ...error, code: errorCodes.resourceNotFound };
}

/** The error for a request that a server did not answer in time. It is compared by identity. */
export const callTimedOut: JsonRpcError = {
  code: -32001,
  message: 'The MCP server did not answer in time. The call may still have had its effect.',
};
