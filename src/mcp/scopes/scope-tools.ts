import { setBounded } from '../../collections/caches.ts';
import { type AuthInfo, principalKey } from '../../oauth/auth-info.ts';
import type { ToolList } from '../modern/internal-call.ts';
import { operationOn } from '../reading/messages.ts';
import type { ScopeGate } from './scope-gate.ts';

/** Names of the tools that scopes allow. */
export interface ScopeTools {
  /** Scope -> the tools that need it, or need a scope that it includes; some need others, too. */
  byScope: Readonly<Record<string, readonly string[]>>;
  /** Tools that need no scope at all. */
  free: readonly string[];
}

/** Options of {@link createScopeTools}. */
export interface ScopeToolsOptions {
  /** Reads the list of tools as a caller sees it. */
  list(caller: AuthInfo): Promise<ToolList>;
  gate: Pick<ScopeGate, 'effective' | 'neededBy'>;
  /** True if the list depends on the caller; else one list serves all. */
  isPersonal: boolean;
  /** Maximum wait for the server's list, in milliseconds. A later list serves the next caller. */
  patienceMs: number;
  /** Lifetime of a list, in milliseconds. */
  keptMs: number;
  /** Any clock that only goes forward, in milliseconds. */
  nowMs: () => number;
}

/** Maximum number of kept results. */
const maxKept = 1000;

/**
 * Creates the look-up of the tools that scopes allow, in the live list of tools, for consent pages.
 * @returns a function from a caller with the requested scopes to the tools. If the server does not respond in time, it
 *   uses the last list; undefined if there is none. It never throws (FA-60).
 */
export function createScopeTools(
  options: ScopeToolsOptions,
): (caller: AuthInfo) => Promise<ScopeTools | undefined> {
  const { list, gate, isPersonal, patienceMs, keptMs, nowMs } = options;
  const last = new Map<string, ScopeTools>();
  const kept = new Map<string, { tools: Promise<ScopeTools | undefined>; until: number }>();

  const read = async (caller: AuthInfo): Promise<ScopeTools | undefined> => {
    const asked = caller.scopes;
    const { tools, isWhole, by } = await list(gate.effective(caller));
    if (!isWhole) return undefined;
    const byScope = new Map(asked.map((scope) => [scope, new Set<string>()]));
    const free: string[] = [];
    for (const { name } of tools) {
      if (typeof name !== 'string') continue;
      const needed = await gate.neededBy(operationOn('tool', name), caller, by);
      if (needed.length === 0) free.push(name);
      for (const [scope, opened] of byScope) {
        const held = gate.effective({ ...caller, scopes: [scope] }).scopes;
        if (needed.some((one) => held.includes(one))) opened.add(name);
      }
    }
    return {
      byScope: Object.fromEntries([...byScope].map(([scope, names]) => [scope, [...names]])),
      free,
    };
  };

  const keyOf = (caller: AuthInfo): string =>
    JSON.stringify([isPersonal ? principalKey(caller) : '', caller.scopes]);
  const recent = (caller: AuthInfo): Promise<ScopeTools | undefined> => {
    const key = keyOf(caller);
    const known = kept.get(key);
    if (known && known.until > nowMs()) return known.tools;
    const entry = { tools: read(caller).catch(() => undefined), until: nowMs() + keptMs };
    kept.delete(key);
    kept.set(key, entry);
    entry.tools.then((told) => {
      if (told !== undefined) setBounded(last, key, told, maxKept);
      else if (kept.get(key) === entry) kept.delete(key);
    });
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    return entry.tools;
  };

  return (caller) => {
    const { promise, resolve } = Promise.withResolvers<ScopeTools | undefined>();
    const timer = setTimeout(() => resolve(undefined), patienceMs).unref();
    recent(caller).then(resolve);
    return promise.finally(() => clearTimeout(timer)).then((told) => told ?? last.get(keyOf(caller)));
  };
}
