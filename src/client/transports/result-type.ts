import {
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
} from '@modelcontextprotocol/client';

/** The member of `_meta` with which a request says that it is of 2026-07-28 or later. */
const versionMember = 'io.modelcontextprotocol/protocolVersion';

/**
 * Completes the answer to a request of 2026-07-28 that does not say of which type it is: such a result is complete.
 * The SDK's client refuses it.
 * @param answer what the server sent
 * @param request what it answers
 * @returns the answer, with a `resultType`
 * @see MCP 2026-07-28 base protocol, results (C1-04)
 */
export function completeResultType(answer: JSONRPCMessage, request: JSONRPCRequest): JSONRPCMessage {
  if (!isJSONRPCResultResponse(answer) || answer.result.resultType !== undefined) return answer;
  if (request.params?._meta?.[versionMember] === undefined) return answer;
  return { ...answer, result: { ...answer.result, resultType: 'complete' } };
}
