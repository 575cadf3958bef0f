import type { Check } from '../../doctor/check.ts';
import { createPaint } from '../colour.ts';
import { type CommandIo, formatJson } from '../output.ts';
import { formatFittedTable } from '../table.ts';

/** Width of a terminal that does not say how wide it is. */
const defaultWidth = 100;

/** Options without which the checks of a section do not run. */
const neededOptions: Partial<Record<Check['section'], string>> = { proxy: '--proxy', clients: '--as' };

/**
 * Writes all checks with rule, clause and what each needs to run: a table, or one JSON object.
 * @param checks in their order
 * @param options `json`
 * @param io the surroundings, for width and colours
 */
export function formatCheckList(
  checks: readonly Check[],
  options: { json?: boolean },
  io: CommandIo,
): string {
  const rows = checks.map(({ id, section, title, clause, active }) => ({
    id,
    section,
    title,
    clause,
    active: active ?? false,
  }));
  if (options.json) return formatJson({ schema: 1, checks: rows });
  return formatFittedTable(
    ['ID', 'RULE', 'CLAUSE', 'NEEDS'],
    rows.map(({ id, title, clause, section, active }) => [
      id,
      title,
      clause,
      active ? '--active' : (neededOptions[section] ?? ''),
    ]),
    {
      width: io.stdout.isTTY ? (io.stdout.columns ?? defaultWidth) : undefined,
      paint: createPaint(io.stdout, io.env),
    },
  );
}
