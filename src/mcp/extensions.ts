import type { Conversations, InitializeResult } from './conversations/conversation.ts';

/** Adds what the front can do to the capabilities in the answer to `initialize` or `server/discover`. */
export type DeclareExtensions = <Result extends { capabilities?: unknown }>(result: Result) => Result;

/**
 * Creates what declares the extensions that stand in front of a server, which knows nothing of them. What the server
 * says of an extension itself stays.
 * @param names identifiers of extensions; none leaves every answer as it is
 * @see MCP "Extensions" (A13-01, A13-04, A13-11)
 */
export function createExtensions(names: readonly string[]): DeclareExtensions {
  if (names.length === 0) return (result) => result;
  const declared = Object.fromEntries(names.map((name) => [name, {}]));
  return (result) => {
    const capabilities = Object(result.capabilities) as Record<string, unknown>;
    const extensions = { ...declared, ...(capabilities.extensions as Record<string, unknown> | undefined) };
    return { ...result, capabilities: { ...capabilities, extensions } };
  };
}

/** Has conversations say in their answer to `initialize` which extensions stand in front of the server. */
export function declaringExtensions(conversations: Conversations, declare: DeclareExtensions): Conversations {
  /** A server of all gives every conversation the same answer, and most of them look at none. */
  const declared = new WeakMap<InitializeResult, InitializeResult>();
  return {
    async open(initialize, sender, listener) {
      const opening = await conversations.open(initialize, sender, listener);
      if ('error' in opening) return opening;
      const { conversation, result } = opening;
      const told = declared.get(result) ?? declare(result);
      declared.set(result, told);
      return { conversation, result: told };
    },
    close: () => conversations.close(),
  };
}
