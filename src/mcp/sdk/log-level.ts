import { LOG_LEVEL_META_KEY } from '@modelcontextprotocol/server';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { JsonRpcError, Message, RequestMessage } from '../protocol.ts';

/** Levels of log messages, from the least urgent (RFC 5424 section 6.2.1). */
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;

/** The error for an unknown level (C6-04). */
export const noSuchLevel: JsonRpcError = {
  code: errorCodes.invalidParams,
  message: 'Invalid params: there is no such log level.',
};

/** One of the levels of RFC 5424. */
export type LogLevel = (typeof levels)[number];

/** Type guard for log levels. */
export function isLogLevel(value: unknown): value is LogLevel {
  return (levels as readonly unknown[]).includes(value);
}

/**
 * Returns true if a message of a server is a log message below the client's level. Without a level, a client gets all
 * log messages, as with the SDK.
 * @see MCP 2025-11-25 "Logging"
 */
export function isBelow(level: LogLevel | undefined, { method, params }: Message): boolean {
  if (level === undefined || method !== 'notifications/message' || !isLogLevel(params?.level)) return false;
  return levels.indexOf(params.level) < levels.indexOf(level);
}

/**
 * Returns true if a notification may be sent on the stream of a request: log messages only from the requested level on,
 * and none without a requested level.
 * @see MCP 2026-07-28 "Logging" (C6-04)
 */
export function mayHear({ params }: RequestMessage, notification: Message): boolean {
  if (notification.method !== 'notifications/message') return true;
  const meta = params?._meta as Record<string, unknown> | undefined;
  const wanted = meta?.[LOG_LEVEL_META_KEY];
  return isLogLevel(wanted) && isLogLevel(notification.params?.level) && !isBelow(wanted, notification);
}
