import { type Command, InvalidArgumentError } from 'commander';
import type { createAdministration } from '../../../authorization-server/administration/administration.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { parseTime, parseWhole } from '../../option-parsers.ts';
import {
  type CommandIo,
  formatJson,
  formatTable,
  jsonLine,
  printableLine,
  processIo,
  programName,
} from '../../output.ts';
import { type InstallationOptions, isoTime, operatorCommand, withAdministration } from './installation.ts';

type Administration = ReturnType<typeof createAdministration>;

interface Filter extends InstallationOptions {
  json?: boolean;
  event?: string;
  account?: string;
  client?: string;
  since?: number;
  until?: number;
}

function withFilter(command: Command): Command {
  return command
    .option('--event <name>', 'only this event, such as token.issued; login. selects all that begin with it')
    .option('--account <account>', 'only events of this account (e-mail address or id)')
    .option('--client <id>', 'only events of this client')
    .option('--since <time>', 'only events at or after this time', parseTime)
    .option('--until <time>', 'only events before this time', parseTime);
}

/** Builds the query. The log names accounts by id, and accounts that operators change by e-mail address. */
async function queryOf({ accounts }: Administration, { event, account, client, since, until }: Filter) {
  const shown = account?.includes('@')
    ? await accounts.show(account)
    : account !== undefined && (await accounts.list()).find(({ id }) => id === account);
  return {
    ...(event === undefined ? undefined : { event }),
    ...(account === undefined ? undefined : { accountId: account }),
    ...(shown ? { accountId: shown.id, accountEmail: shown.email } : undefined),
    ...(client === undefined ? undefined : { clientId: client }),
    ...(since === undefined ? undefined : { since }),
    ...(until === undefined ? undefined : { until }),
  };
}

/** Registers `gatehouse audit list|verify|export`. */
export function registerAudit(program: Command, io: CommandIo = processIo()): void {
  const audit = program
    .command('audit')
    .description('audit log of your server: logins, consents, tokens, commands');

  withFilter(operatorCommand(audit, 'list', 'list the newest events, the newest last'))
    .option('--limit <number>', 'number of events (default: 50)', parseWhole(1, 10_000))
    .action(async (options: Filter & { limit?: number }) => {
      const events = await withAdministration(options, false, async (administration) =>
        administration.audit.list({
          ...(await queryOf(administration, options)),
          limit: options.limit ?? 50,
        }),
      );
      const rows = events.map(({ seq, at, event, details }) => [
        String(seq),
        isoTime(at),
        event,
        printableLine(
          Object.entries(details)
            .map(([name, value]) => `${name}=${value}`)
            .join(' '),
        ),
      ]);
      io.stdout.write(
        options.json ? formatJson(events) : formatTable([['SEQ', 'TIME', 'EVENT', 'DETAILS'], ...rows]),
      );
    });

  withFilter(
    operatorCommand(audit, 'export', 'print all events, one JSON object a line, the oldest first'),
  ).action(async (options: Filter) => {
    await withAdministration(options, false, async (administration) => {
      const query = await queryOf(administration, options);
      for await (const event of administration.audit.read(query)) io.stdout.write(jsonLine(event));
    });
  });

  registerAuditVerify((name, description) => operatorCommand(audit, name, description), io);
}

type Audit = ReturnType<typeof createAdministration>['audit'];
type Fault = Awaited<ReturnType<Audit['verify']>>['faults'][number];
type Restore = { seq: number; at: number; asOf: string | undefined };

/** A head that an earlier check printed. */
interface Known {
  seq: number;
  hash: string;
}

/** Maximum number of restores that are read, newest first. */
const maxRestores = 100;

/** Faults of an unchanged log that is not the log of the given head. */
const againstHead: ReadonlySet<Fault['fault']> = new Set<Fault['fault']>(['ends_before_head', 'other_head']);

function parseHead(text: string): Known {
  const [, seq, hash] = /^(\d{1,15}):([\w-]{43})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw new InvalidArgumentError(
      'A head is a number, a colon and a hash, as gatehouse audit verify prints it.',
    );
  return { seq: Number(seq), hash };
}

function faultLine({ seq, fault }: Fault): string {
  if (fault === 'other_head')
    return `Event ${seq} is not the event of that head: the log was restored from a backup that is older than the head, and has grown since.`;
  if (fault !== 'ends_before_head') return `event ${seq}: ${fault.replaceAll('_', ' ')}`;
  const where = seq === 0 ? 'The log is empty, and lacks' : `The log ends at event ${seq}, before`;
  return `${where} the event of that head: events were removed, or the log was restored from a backup that is older than the head.`;
}

/** Returns the restore of a backup that explains why the log lacks an earlier head; undefined if there is none. */
async function findRestore(audit: Audit, head: Known): Promise<Restore | undefined> {
  const restores = await audit.list({ event: 'installation.restored', limit: maxRestores });
  const found = restores.findLast(({ seq }) => seq <= head.seq);
  return found && { seq: found.seq, at: found.at, asOf: found.details.asOf };
}

function restoreLine({ seq, at, asOf }: Restore): string {
  return `Event ${seq} (${isoTime(at)}) is the restore of a backup of ${asOf}: later events, and heads of that time, are not in this log.`;
}

/** Creates the error for a log that lacks the given head. */
function otherLog(restore: Restore | undefined): CliError {
  return new CliError(
    'The audit log does not contain the event of that head.',
    exitCodes.faultsFound,
    restore
      ? `If the head was printed before that restore, nothing is wrong: keep the new head, which ${programName} audit verify prints.`
      : 'No restore of a backup in the log explains this: compare the log with the server’s log and with backups. gatehouse audit export prints its events.',
  );
}

/**
 * Registers `gatehouse audit verify`.
 * @param command makes a command of `gatehouse audit` with the options they all have
 */
function registerAuditVerify(command: (name: string, description: string) => Command, io: CommandIo): void {
  command('verify', 'check that no event was changed, removed or added')
    .option(
      '--head <seq:hash>',
      'head that an earlier check printed; detects that the whole log was replaced',
      parseHead,
    )
    .action(async (options: InstallationOptions & { json?: boolean; head?: Known }) => {
      const { verdict, isOther, restore } = await withAdministration(options, false, async ({ audit }) => {
        const verdict = await audit.verify(options.head);
        const isOther = !verdict.isWhole && verdict.faults.every(({ fault }) => againstHead.has(fault));
        const restore = isOther && options.head ? await findRestore(audit, options.head) : undefined;
        return { verdict, isOther, restore };
      });
      const head = verdict.head ? `${verdict.head.seq}:${verdict.head.hash}` : 'none';
      const lines = verdict.isWhole
        ? [
            `Intact: ${verdict.rows} event${verdict.rows === 1 ? '' : 's'}.`,
            `Head: ${head}`,
            'Store the head elsewhere, and check it later with --head.',
          ]
        : [
            isOther ? 'Intact, but without the event of that head:' : 'Not intact:',
            ...verdict.faults.map(faultLine),
            ...(restore ? [restoreLine(restore)] : []),
          ];
      io.stdout.write(
        options.json
          ? formatJson({ ...verdict, head, ...(restore && { restore }) })
          : `${lines.join('\n')}\n`,
      );
      if (verdict.isWhole) return;
      if (isOther) throw otherLog(restore);
      throw new CliError(
        'The audit log was changed by somebody who could write the database.',
        exitCodes.faultsFound,
        'Compare it with the server’s log and with backups. gatehouse audit export prints its events.',
      );
    });
}
