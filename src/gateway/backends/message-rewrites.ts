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

/** Member of `_meta` with the assertion about the caller. */
const assertionMember = 'mcp-gatehouse/caller-assertion';

/** Members of `_meta` that only the gateway may set. */
const ownMembers = ['auth', assertionMember] as const;

/**
 * Removes the members of `_meta` that only the gateway may set from a message of a client: nobody can speak for another
 * caller (B7-17).
 */
export function withoutCallerAuth<M extends Message & { result?: unknown }>(message: M): M {
  const { params, result } = message;
  const cleaned = withoutOwnMembers(params);
  if (cleaned !== params) return { ...message, params: cleaned };
  const given = withoutOwnMembers(result);
  return given === result ? message : { ...message, result: given };
}

function withoutOwnMembers<Holder>(holder: Holder): Holder {
  const meta = isRecord(holder) ? holder._meta : undefined;
  if (!isRecord(meta) || !ownMembers.some((name) => Object.hasOwn(meta, name))) return holder;
  const kept = Object.entries(meta).filter(([name]) => !(ownMembers as readonly string[]).includes(name));
  return { ...holder, _meta: Object.fromEntries(kept) };
}

/** Adds members to the `_meta` of a request. A `_meta` that is no object is replaced. */
export function withMeta<M extends Message>(request: M, added: Readonly<Record<string, unknown>>): M {
  const meta = request.params?._meta;
  return { ...request, params: { ...request.params, _meta: { ...(isRecord(meta) && meta), ...added } } };
}

/** Adds an assertion about its caller to a request. */
export function withAssertion<M extends Message>(request: M, assertion: string): M {
  return withMeta(request, { [assertionMember]: assertion });
}
