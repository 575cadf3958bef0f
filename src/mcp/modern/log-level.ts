import { LOG_LEVEL_META_KEY } from '@modelcontextprotocol/server';
import type { Message, RequestMessage } from '../reading/frames.ts';
import { isBelow, isLogLevel } from '../sdk/log-level.ts';

/**
 * Returns true if a notification may be sent on the stream of a request: log messages only from the level on that the
 * request asks for, and none if it asks for none.
 * @see MCP 2026-07-28 "Logging" (C6-04)
 */
export function mayHear({ params }: RequestMessage, notification: Message): boolean {
  if (notification.method !== 'notifications/message') return true;
  const meta = params?._meta as Record<string, unknown> | undefined;
  const wanted = meta?.[LOG_LEVEL_META_KEY];
  return isLogLevel(wanted) && isLogLevel(notification.params?.level) && !isBelow(wanted, notification);
}
