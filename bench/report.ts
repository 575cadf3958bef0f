/** What one round saw of a server. */
export interface Round {
  perSecond: number;
  /** Latencies in milliseconds. */
  p50: number;
  p99: number;
}

/** One line of the report. */
export interface Row {
  /** What was measured, in words: the work, and who does it. */
  work: string;
  subject: string;
  /** The number that counts, with its unit beside it. */
  value: number;
  unit: string;
  /** More numbers, by name. */
  details: Readonly<Record<string, number | string>>;
  /** Where servers had turns: what each round saw, in the order in which all had theirs. */
  rounds?: readonly Round[];
}

/** A number we hold ourselves to. */
export interface Goal {
  work: string;
  /** What is compared, in words. */
  rule: string;
  reached: number;
  wanted: number;
  holds: boolean;
}

function round(value: number): string {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

function layOut(lines: readonly (readonly string[])[]): string {
  const widths =
    lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** The rows as a table for people. */
export function formatRows(rows: readonly Row[]): string {
  return layOut([
    ['WORK', 'SERVER', 'RESULT', 'DETAILS'],
    ...rows.map(({ work, subject, value, unit, details }) => [
      work,
      subject,
      `${round(value)} ${unit}`,
      Object.entries(details)
        .map(([name, detail]) => `${name} ${typeof detail === 'number' ? round(detail) : detail}`)
        .join(', '),
    ]),
  ]);
}

/** The goals as a table for people. */
export function formatGoals(goals: readonly Goal[]): string {
  return layOut([
    ['GOAL', 'RULE', 'WANTED', 'REACHED', ''],
    ...goals.map(({ work, rule, wanted, reached, holds }) => [
      work,
      rule,
      round(wanted),
      round(reached),
      holds ? 'holds' : 'MISSED',
    ]),
  ]);
}
