/**
 * Building blocks for rooms that make servers and backends for the MCP endpoint: reading messages of other servers,
 * errors, sources of servers, requests of Gatehouse itself.
 */

export { isRecordedMethod, noteCall, noteGeneration, sentNote, traceOf, withTrace } from './calls.ts';
export { HeldBytes, type IncomingBytes, smallBytes } from './http/held-bytes.ts';
export { Deadlines } from './http/limits.ts';
export { isRefusal, type Refusal } from './http/refusal.ts';
export { progressTokenOf, withIds } from './modern/envelope.ts';
export { discoverBy, internalCall, internalRequest } from './modern/internal-call.ts';
export { createRecentSchemas, namedBy } from './modern/mirrored-headers.ts';
export { honouredFilter, listenMethod } from './modern/subscriptions.ts';
export type { Cursors } from './paging.ts';
export { changeOf, changesOfLists } from './reading/changes.ts';
export { maxValues, outerId, parseJson, withoutByteOrderMark } from './reading/json.ts';
export { readLineOfServer } from './reading/lines.ts';
export { readOperations } from './reading/messages.ts';
export { type InputRequest, isMethodOfMcp, type OpenMethods, readInputRequests } from './reading/methods.ts';
export type { ScopeRules } from './scopes/scope-rules.ts';
export { unknownScopesOf } from './scopes/scope-rules.ts';
export { createUriReader, foldedPatterns, type UriReader } from './scopes/uri-spellings.ts';
export { type CallContext, callerOf, toSdkAuthInfo } from './sdk/caller.ts';
export { createConversations } from './sdk/conversations.ts';
export {
  internalError,
  invalidParams,
  methodNotFound,
  ownData,
  ownReasonOf,
  requestCancelled,
  resultNotServed,
} from './sdk/json-rpc-errors.ts';
export { fromFactory, fromServer, isServer, type ServerFactory } from './sdk/server-factory.ts';
export { openElicitations } from './sdk/shared-conversation.ts';
export { StartProgress } from './sdk/start-progress.ts';
export {
  inputOfLink,
  type MissingInput,
  type MissingLink,
  missingInputOf,
  patienceOf,
  withMissingInput,
  withoutPatience,
} from './upstreams/upstream.ts';
