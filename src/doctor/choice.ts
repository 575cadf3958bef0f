import type { Check } from './check.ts';

/** The checks to run, and the requested ones among them. */
export interface Choice {
  /** Ids to report. */
  asked: ReadonlySet<string>;
  /** The checks to run in their order: those asked for, and what they need. */
  running: readonly Check[];
}

/**
 * Chooses among the checks.
 * @param checks all there are, in their order
 * @param wishes `only` these, but not `skip`
 * @throws RangeError that names the ids that do not exist
 */
export function chooseChecks(
  checks: readonly Check[],
  wishes: { only?: readonly string[] | undefined; skip?: readonly string[] | undefined },
): Choice {
  const byId = new Map(checks.map((check) => [check.id, check]));
  const { only, skip = [] } = wishes;
  const unknown = [...(only ?? []), ...skip].filter((id) => !byId.has(id));
  if (unknown.length > 0) throw new RangeError(`There is no check ${unknown.join(', ')}.`);
  const asked = new Set((only ?? [...byId.keys()]).filter((id) => !skip.includes(id)));
  const needed = new Set<string>();
  const need = (id: string): void => {
    if (needed.has(id) || skip.includes(id)) return;
    needed.add(id);
    for (const before of byId.get(id)?.needs ?? []) need(before);
  };
  for (const id of asked) need(id);
  return { asked, running: checks.filter(({ id }) => needed.has(id)) };
}
