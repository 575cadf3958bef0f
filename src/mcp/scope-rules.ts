import { missingScopes, scopeUnion } from '../oauth/scope.ts';
import type { Message } from './checks/messages.ts';

/** Which scopes a call needs. What is not named needs none. */
export interface ScopeRules {
  /** Tool name -> all scopes a call of it needs. */
  tools?: Readonly<Record<string, readonly string[]>>;
  /** Prompt name -> all scopes it needs. */
  prompts?: Readonly<Record<string, readonly string[]>>;
  /** Beginning of a resource's URI -> all scopes needed to read it; the longest beginning decides. */
  resources?: Readonly<Record<string, readonly string[]>>;
}

/** Says which scopes messages need and the caller lacks. */
export interface ScopeGate {
  /**
   * @param granted scopes of the caller
   * @returns all scopes the refused messages need, held ones included; undefined where nothing is missing (A8-04)
   */
  missing(messages: readonly Message[], granted: readonly string[]): readonly string[] | undefined;
}

type Params = Record<string, unknown>;

/**
 * Creates the gate in front of tools, prompts and resources. It judges the message itself, never a header that
 * mirrors it, and looks names up as names, so that `__proto__` is one nobody has (T-102, T-132, T-137).
 */
export function createScopeGate(rules: ScopeRules): ScopeGate {
  const tools = new Map(Object.entries(rules.tools ?? {}));
  const prompts = new Map(Object.entries(rules.prompts ?? {}));
  const resources = Object.entries(rules.resources ?? {}).sort(([a], [b]) => b.length - a.length);

  const byName = (table: ReadonlyMap<string, readonly string[]>, name: unknown): readonly string[] =>
    typeof name === 'string' ? (table.get(name) ?? []) : [];
  const byUri = (uri: unknown): readonly string[] => {
    const read = typeof uri === 'string' ? normalizeUri(uri) : undefined;
    return resources.find(([beginning]) => read?.startsWith(beginning))?.[1] ?? [];
  };
  const byReference = (reference: unknown): readonly string[] => {
    const { type, name, uri } = (reference ?? {}) as Params;
    return type === 'ref/prompt' ? byName(prompts, name) : byUri(uri);
  };

  const rulesOfMethods = new Map<string, (params: Params) => readonly string[]>([
    ['tools/call', ({ name }) => byName(tools, name)],
    ['prompts/get', ({ name }) => byName(prompts, name)],
    ['resources/read', ({ uri }) => byUri(uri)],
    ['resources/subscribe', ({ uri }) => byUri(uri)],
    ['completion/complete', ({ ref }) => byReference(ref)],
  ]);
  const needed = ({ method = '', params = {} }: Message): readonly string[] =>
    rulesOfMethods.get(method)?.(params) ?? [];

  return {
    missing(messages, granted) {
      const lacking = messages.map(needed).filter((scopes) => missingScopes(granted, scopes).length > 0);
      return lacking.length === 0 ? undefined : scopeUnion(...lacking);
    },
  };
}

/** The form in which servers look a resource up: `NOTES://x` and ` notes://x` are `notes://x` to a URL parser. */
function normalizeUri(uri: string): string {
  return URL.parse(uri)?.href ?? uri;
}
