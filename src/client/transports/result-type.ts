import {
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
} from '@modelcontextprotocol/client';

/** The member of `_meta` with the revision of a request, from 2026-07-28 on. */
const versionMember = 'io.modelcontextprotocol/protocolVersion';

/**
 * Adds the `resultType` `complete` to a result of 2026-07-28 without one, which the SDK's client would
 * reject.
 * @param answer the response of the server
 * @param request its request
 * @see MCP 2026-07-28 base protocol, results (C1-04)
 */
export function completeResultType(answer: JSONRPCMessage, request: JSONRPCRequest): JSONRPCMessage {
  if (!isJSONRPCResultResponse(answer) || answer.result.resultType !== undefined) return answer;
  if (request.params?._meta?.[versionMember] === undefined) return answer;
  return { ...answer, result: { ...answer.result, resultType: 'complete' } };
}
