import { isRecord, type Message } from '../../mcp/protocol.ts';

const lists = ['tools', 'prompts', 'resources'];

/** Returns capabilities of a server whose lists may all change: it may be replaced, whatever it tells itself. */
export function listsOf(capabilities: unknown): Record<string, unknown> {
  if (!isRecord(capabilities)) return {};
  const offered = lists.flatMap((name) =>
    isRecord(capabilities[name]) ? [[name, { ...capabilities[name], listChanged: true }] as const] : [],
  );
  return { ...capabilities, ...Object.fromEntries(offered) };
}

/**
 * Returns the answer of a server to `initialize` with every list as one that may change: the gateway tells its clients when
 * another process or session takes its place (FA-44).
 * @see MCP 2025-11-25 tools "List Changed Notification"
 */
export function withListChanges<Answer extends Message & { result?: Record<string, unknown> }>(
  answer: Answer,
): Answer {
  const { result } = answer;
  if (!isRecord(result) || !isRecord(result.capabilities)) return answer;
  return { ...answer, result: { ...result, capabilities: listsOf(result.capabilities) } };
}
