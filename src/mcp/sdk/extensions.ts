import type { Conversations, InitializeResult } from '../protocol.ts';
import type { ServedMethods } from '../reading/methods.ts';

/** Adds what the front can do to, and takes what is not served out of, the capabilities in the answer to `initialize` or `server/discover`. */
export type DeclareExtensions = <Result extends { capabilities?: unknown }>(result: Result) => Result;

/**
 * Creates what declares the extensions that stand in front of a server, which knows nothing of them. Of what the server
 * declares itself, what is served stays (T-202).
 * @param names identifiers of extensions
 * @see MCP "Extensions" (A13-01, A13-04, A13-11)
 */
export function createExtensions(
  names: readonly string[],
  served: Pick<ServedMethods, 'capabilities'>,
): DeclareExtensions {
  const inFront = Object.fromEntries(names.map((name) => [name, {}]));
  return (result) => {
    const given = Object(result.capabilities) as Record<string, unknown>;
    const capabilities = served.capabilities(given);
    if (names.length === 0)
      return capabilities === result.capabilities ? result : { ...result, capabilities };
    const said = Object.entries(Object(given.extensions) as object).filter(([name]) => names.includes(name));
    const extensions = { ...inFront, ...Object.fromEntries(said), ...Object(capabilities.extensions) };
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
