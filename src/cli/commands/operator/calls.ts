import { setTimeout as pause } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { createAdministration } from '../../../authorization-server/administration/administration.ts';
import {
  type CallCount,
  type CallGroup,
  type CallOutcome,
  type CallQuery,
  callGroups,
  callOutcomes,
} from '../../../storage/calls.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { parseTime, parseWhole } from '../../option-parsers.ts';
import { type CommandIo, formatJson, formatTable, jsonLine, printableLine, processIo } from '../../output.ts';
import { type InstallationOptions, operatorCommand, withAdministration } from './installation.ts';

type Administration = ReturnType<typeof createAdministration>;
type CallRecord = Awaited<ReturnType<Administration['calls']['list']>>[number];
type HourGroup = Parameters<Administration['calls']['countHours']>[1]['by'][number];
type CallsVerdict = Awaited<ReturnType<Administration['calls']['verify']>>;

/** Columns and filters of the sums by hour. */
const hourColumns: ReadonlySet<string> = new Set([
  ...['route', 'backend', 'method', 'target', 'client', 'outcome', 'since', 'until'],
]);

/** Options that select calls. */
interface Filter extends InstallationOptions {
  json?: boolean;
  account?: string;
  client?: string;
  route?: string;
  backend?: string;
  tool?: string;
  method?: string;
  outcome?: CallOutcome;
  reason?: string;
  revision?: string;
  request?: string;
  trace?: string;
  arguments?: string;
  since?: number;
  until?: number;
}

function withFilter(command: Command): Command {
  return command
    .option('--account <account>', 'only calls of this account (e-mail address or id)')
    .option('--client <id>', 'only calls of this client')
    .option('--route <path>', 'only calls at this route, such as /github')
    .option('--backend <key>', 'only calls of this backend of a route with several')
    .option('--tool <name>', 'only calls of this tool, prompt or resource')
    .option('--method <name>', 'only this method, such as tools/call')
    .addOption(new Option('--outcome <outcome>', 'only calls that ended so').choices(callOutcomes))
    .option('--reason <reason>', 'only calls with this reason, such as insufficient_scope')
    .option('--revision <date>', 'only calls of this protocol revision')
    .option('--request <id>', 'only the call with this X-Request-Id')
    .option('--trace <id>', 'only calls of this trace')
    .option('--arguments <hash>', 'only calls with this hash of the arguments')
    .option('--since <time>', 'only calls at or after this time: a date, or 90m, 24h or 7d ago', parseTime)
    .option('--until <time>', 'only calls before this time', parseTime);
}

/** Builds the query. The ledger names accounts by id. */
async function queryOf({ accounts }: Pick<Administration, 'accounts'>, filter: Filter): Promise<CallQuery> {
  const { account, tool, request, trace, arguments: hash, since, until } = filter;
  const { client, route, backend, method, outcome, reason, revision } = filter;
  const accountId = account?.includes('@') ? (await accounts.show(account)).id : account;
  const query = {
    ...{ account: accountId, client, route, backend, target: tool, method, outcome, reason, revision },
    ...{ requestId: request, traceId: trace, argumentsHash: hash },
    since: since === undefined ? undefined : since * 1000,
    until: until === undefined ? undefined : until * 1000,
  };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}

const isoMs = (ms: number): string => new Date(ms).toISOString();

const headings = ['SEQ', 'TIME', 'ACCOUNT', 'CLIENT', 'ROUTE', 'CALL', 'OUTCOME', 'MS'];

function rowOf(call: CallRecord): string[] {
  const { seq, at, account, client, route, backend, method, target, outcome, reason, code, ms } = call;
  const place = backend === null ? route : `${route} ${backend}`;
  const why = reason ?? (code === null ? undefined : String(code));
  return [
    String(seq),
    isoMs(at),
    ...[account, client, place, target === null ? method : `${method} ${target}`].map(printableLine),
    printableLine(why === undefined ? outcome : `${outcome} (${why})`),
    String(ms),
  ];
}

/** Registers `gatehouse calls list|show|summary|export|verify`. */
export function registerCalls(program: Command, io: CommandIo = processIo()): void {
  const calls = program
    .command('calls')
    .description('call ledger of your server: who called what, and how it went');
  for (const register of [registerList, registerShow, registerSummary, registerExport, registerVerify])
    register((name, description) => operatorCommand(calls, name, description), io);
}

/** Adds a command of {@link registerCalls}. */
type AddCommand = (name: string, description: string) => Command;

function registerList(add: AddCommand, io: CommandIo): void {
  withFilter(add('list', 'list the newest calls, the newest last'))
    .option('--limit <number>', 'number of calls (default: 50)', parseWhole(1, 10_000))
    .option('--follow', 'also print calls as they end, until it is interrupted')
    .action((options: Filter & { limit?: number; follow?: boolean }) =>
      withAdministration(options, false, async (administration) => {
        const query = await queryOf(administration, options);
        const found = await administration.calls.list(query, options.limit ?? 50);
        const isLines = options.json === true && options.follow === true;
        if (isLines) for (const call of found) io.stdout.write(jsonLine(call));
        else io.stdout.write(options.json ? formatJson(found) : formatTable([headings, ...found.map(rowOf)]));
        if (options.follow)
          await follow(administration, { ...query, afterSeq: newestOf(found) }, isLines, io);
      }),
    );
}

function registerShow(add: AddCommand, io: CommandIo): void {
  add('show', 'show one call, by its number, X-Request-Id or trace')
    .argument('<call>', 'number in the ledger, X-Request-Id, or trace id')
    .option('--arguments', 'also show its arguments, if its route keeps them; the audit log notes it')
    .action((call: string, options: InstallationOptions & { json?: boolean; arguments?: boolean }) =>
      withAdministration(options, false, async ({ calls: ledger }) => {
        const found = await ledger.list(queryOfCall(call), 100);
        if (found.length === 0)
          throw new CliError(
            'The ledger has no such call.',
            exitCodes.faultsFound,
            'Calls are recorded a moment after their response, and dropped after calls.keepDays.',
            'no_call',
          );
        const shown = await Promise.all(
          found.map(async (each) => ({
            ...each,
            ...(options.arguments && { arguments: (await ledger.showArguments(each.seq)) ?? null }),
          })),
        );
        io.stdout.write(options.json ? formatJson(shown) : shown.map(describe).join('\n'));
      }),
    );
}

function registerSummary(add: AddCommand, io: CommandIo): void {
  withFilter(add('summary', 'count calls by columns, the most frequent first'))
    .option(
      '--by <columns>',
      `columns, joined by commas (default: target): ${callGroups.join(', ')}`,
      parseGroups,
    )
    .option('--limit <number>', 'number of rows (default: 50)', parseWhole(1, 10_000))
    .option(
      '--hourly',
      'count by the sums of hours, which are kept longer; without account, reason and revision',
    )
    .action((options: Filter & { by?: CallGroup[]; limit?: number; hourly?: boolean }) =>
      withAdministration(options, false, async (administration) => {
        const { by = ['target'], limit = 50, hourly = false, json } = options;
        const query = await queryOf(administration, options);
        if (hourly) requireHourColumns([...by, ...Object.keys(query)]);
        const counts = hourly
          ? await administration.calls.countHours(query, { by: by as HourGroup[], limit })
          : await administration.calls.count(query, { by, limit, withTimes: true });
        io.stdout.write(json ? formatJson(counts) : formatTable(tableOf(by, counts)));
      }),
    );
}

/** Requires that the sums by hour have these columns. @throws CliError */
function requireHourColumns(names: readonly string[]): void {
  const unknown = names.find((name) => !hourColumns.has(name));
  if (unknown === undefined) return;
  throw new CliError(
    `The sums by hour have no ${unknown}.`,
    exitCodes.usage,
    `They have ${[...hourColumns].join(', ')}. Leave --hourly out for the others.`,
  );
}

function registerExport(add: AddCommand, io: CommandIo): void {
  withFilter(
    add('export', 'print all calls in the order in which they ended, one JSON object a line'),
  ).action((options: Filter) =>
    withAdministration(options, false, async (administration) => {
      const query = await queryOf(administration, options);
      for await (const call of administration.calls.read(query)) io.stdout.write(jsonLine(call));
    }),
  );
}

function registerVerify(add: AddCommand, io: CommandIo): void {
  add('verify', 'check that no call was changed, removed or added').action(
    async (options: InstallationOptions & { json?: boolean }) => {
      const verdict = await withAdministration(options, false, ({ calls: ledger }) => ledger.verify());
      io.stdout.write(options.json ? formatJson(verdict) : `${verdictLines(verdict).join('\n')}\n`);
      if (verdict.isWhole) return;
      throw new CliError(
        'The call ledger was changed by somebody who could write its database, or was put back to an earlier state.',
        exitCodes.faultsFound,
        'Compare it with exports and with the log of the server.',
      );
    },
  );
}

/** Prints calls as they end. */
async function follow(
  { calls }: Pick<Administration, 'calls'>,
  from: CallQuery,
  isLines: boolean,
  io: CommandIo,
): Promise<void> {
  for (let query = from; ; await pause(followMs))
    for await (const call of calls.read(query)) {
      query = { ...query, afterSeq: call.seq };
      io.stdout.write(isLines ? jsonLine(call) : `${rowOf(call).join('  ')}\n`);
    }
}

/** Pause between two looks at the ledger, in milliseconds. */
const followMs = 500;

function newestOf(calls: readonly CallRecord[]): number {
  return Math.max(0, ...calls.map(({ seq }) => seq));
}

/** Returns the query for a call that a person names. */
function queryOfCall(call: string): CallQuery {
  if (/^\d{1,15}$/.test(call)) return { afterSeq: Number(call) - 1, untilSeq: Number(call) };
  return /^[0-9a-f]{32}$/.test(call) ? { traceId: call } : { requestId: call };
}

function parseGroups(text: string): CallGroup[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !callGroups.some((group) => group === name));
  if (unknown !== undefined || new Set(names).size < names.length)
    throw new InvalidArgumentError(`Columns are ${callGroups.join(', ')}; each once.`);
  return names as CallGroup[];
}

function describe(call: Record<string, unknown>): string {
  return Object.entries(call)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => {
      const text =
        name === 'at'
          ? isoMs(Number(value))
          : typeof value === 'object'
            ? JSON.stringify(value)
            : String(value);
      return `${name}: ${printableLine(text)}\n`;
    })
    .join('');
}

type Sum = Awaited<ReturnType<Administration['calls']['countHours']>>[number];

function tableOf(by: readonly CallGroup[], counts: readonly (CallCount | Sum)[]): string[][] {
  const rows = counts.map((count) => [
    ...by.map((name) => printableLine(count.group[name] ?? '-')),
    ...[count.calls, count.failed, count.refused, 'accounts' in count ? count.accounts : '-'].map(String),
    ...[count.times?.p50, count.times?.p95, count.times?.p99].map((ms) => String(ms ?? '-')),
    isoMs(count.lastAt),
  ]);
  const measures = ['CALLS', 'FAILED', 'REFUSED', 'ACCOUNTS', 'P50 MS', 'P95 MS', 'P99 MS', 'LAST'];
  return [[...by.map((name) => name.toUpperCase()), ...measures], ...rows];
}

function verdictLines(verdict: CallsVerdict): string[] {
  const { isWhole, batches, calls, lost, gaps, anchoredUpTo, faults } = verdict;
  return [
    isWhole ? `Intact: ${calls} calls in ${batches} batches.` : 'Not intact:',
    ...faults.map(({ batch, fault }) => `batch ${batch}: ${fault.replaceAll('_', ' ')}`),
    `The audit log confirms batches up to ${anchoredUpTo}.`,
    ...(lost > 0 ? [`${lost} calls could not be recorded.`] : []),
    ...gaps.map(
      (at) =>
        `A server had ended without closing the ledger before ${isoMs(at)}: its last calls may be missing.`,
    ),
  ];
}
