import { principalKey } from '../../oauth/auth-info.ts';
import type { Backend, Caller } from './backend.ts';
import { createListedSchemas, type SchemaLookup } from './tool-schemas.ts';

/** Milliseconds that a list counts: a caller whose tools changed is not rejected by old schemas for longer. */
const lifeMs = 10_000;

/** Most callers whose lists are kept. */
const maxCallers = 1000;

/**
 * Creates the look-up of schemas for servers of which it is not known that they tell when their tools change: the list
 * each caller sees, read again after ten seconds.
 * @param begin see {@link Backend.begin}
 */
export function createRecentSchemas(begin: Backend['begin']): SchemaLookup {
  const recent = new Map<string, { schemas: SchemaLookup; until: number }>();

  const schemasOf = ({ authInfo }: Caller): SchemaLookup => {
    const key = JSON.stringify([principalKey(authInfo), authInfo.scopes]);
    const known = recent.get(key);
    if (known && known.until > performance.now()) return known.schemas;
    const schemas = createListedSchemas(begin);
    recent.delete(key);
    recent.set(key, { schemas, until: performance.now() + lifeMs });
    const [oldest] = recent.keys();
    if (recent.size > maxCallers && oldest !== undefined) recent.delete(oldest);
    return schemas;
  };
  return {
    find: (tool, caller) => schemasOf(caller).find(tool, caller),
    forget: () => recent.clear(),
  };
}
