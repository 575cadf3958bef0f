import { errorCodes } from '../oauth/mcp-error-codes.ts';
import type { JsonRpcError } from './conversations/conversation.ts';

/** Nobody here knows the method. */
export const methodNotFound: JsonRpcError = { code: errorCodes.methodNotFound, message: 'Method not found' };

/** Something failed that a client can do nothing about; what it was stands in the log. */
export const internalError: JsonRpcError = { code: errorCodes.internalError, message: 'Internal error' };

/** What a cancelled request is answered with inside: its client waits for no answer. */
export const requestCancelled: JsonRpcError = {
  code: errorCodes.requestCancelled,
  message: 'The request was cancelled.',
};
