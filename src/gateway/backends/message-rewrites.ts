import { isRecord, type Message } from '../../mcp/protocol.ts';

const lists = ['tools', 'prompts', 'resources'];

/**
 * Returns the capabilities of a server with `listChanged` for every list, because the gateway may replace the server's
 * process.
 */
export function listsOf(capabilities: unknown): Record<string, unknown> {
  if (!isRecord(capabilities)) return {};
  const offered = lists.flatMap((name) =>
    isRecord(capabilities[name]) ? [[name, { ...capabilities[name], listChanged: true }] as const] : [],
  );
  return { ...capabilities, ...Object.fromEntries(offered) };
}

/**
 * Declares in the response to `initialize` that every list may change: the gateway notifies its clients when another
 * process or session takes over (FA-44).
 * @see MCP 2025-11-25 tools "List Changed Notification"
 */
export function withListChanges<Answer extends Message & { result?: Record<string, unknown> }>(
  answer: Answer,
): Answer {
  const { result } = answer;
  if (!isRecord(result) || !isRecord(result.capabilities)) return answer;
  return { ...answer, result: { ...result, capabilities: listsOf(result.capabilities) } };
}

/** Removes `_meta.auth` from a message of a caller: only the gateway may set it (B7-17). */
export function withoutCallerAuth<M extends Message>(message: M): M {
  const meta = message.params?._meta as Record<string, unknown> | undefined;
  if (meta === undefined || !Object.hasOwn(meta, 'auth')) return message;
  const { auth: _auth, ...rest } = meta;
  return { ...message, params: { ...message.params, _meta: rest } };
}
