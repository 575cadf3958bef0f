import { type Command, InvalidArgumentError } from 'commander';
import type { createAdministration } from '../../../authorization-server/administration/administration.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { programName } from '../../command-text.ts';
import { parseWhole } from '../../option-parsers.ts';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../../output.ts';
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

function parseTime(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time))
    throw new InvalidArgumentError('A time is written like 2026-01-31 or 2026-01-31T12:00:00Z.');
  return Math.floor(time / 1000);
}

function withFilter(command: Command): Command {
  return command
    .option('--event <name>', 'only this event, such as token.issued; with login. all that begin so')
    .option('--account <account>', 'only of this account, by its e-mail address or id')
    .option('--client <id>', 'only of this client')
    .option('--since <time>', 'only of this time or later', parseTime)
    .option('--until <time>', 'only of before this time', parseTime);
}

/** What is asked of the log, which names accounts by their ids, and those that operators work on by their addresses. */
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

/** JSON in one line of ASCII: nothing in it that a terminal could act on (T-190). */
function jsonLine(value: unknown): string {
  const ascii = JSON.stringify(value).replace(
    /[^\x20-\x7E]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${ascii}\n`;
}

/** Registers `gatehouse audit list|verify|export`. @param io its surroundings; those of the process by default */
export function registerAudit(program: Command, io: CommandIo = processIo()): void {
  const audit = program
    .command('audit')
    .description('what happened at your server: logins, consents, tokens, commands');

  withFilter(operatorCommand(audit, 'list', 'list the newest events, the newest last'))
    .option('--limit <number>', 'how many (default: 50)', parseWhole(1, 10_000))
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

/** A head that was noted. */
interface Known {
  seq: number;
  hash: string;
}

/** Most restores that are looked at, the newest. */
const maxRestores = 100;

/** Faults of a log in which nothing was changed: it is another one than that of which the head was noted. */
const againstHead: ReadonlySet<Fault['fault']> = new Set<Fault['fault']>(['ends_before_head', 'other_head']);

function parseHead(text: string): Known {
  const [, seq, hash] = /^(\d{1,15}):([\w-]{43})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw new InvalidArgumentError(
      'A head is what gatehouse audit verify printed: a number, a colon and a hash.',
    );
  return { seq: Number(seq), hash };
}

function faultLine({ seq, fault }: Fault): string {
  if (fault === 'other_head')
    return `Event ${seq} is another one than the head that was noted: the log was put back from a backup that is older than the note, and has grown since.`;
  if (fault !== 'ends_before_head') return `event ${seq}: ${fault.replaceAll('_', ' ')}`;
  const where = seq === 0 ? 'The log is empty, without' : `The log ends at event ${seq}, before`;
  return `${where} the head that was noted: it was cut off, or put back from a backup that is older than the note.`;
}

/** The restore of a backup that explains why a log has not a head that was noted; undefined where it has none. */
async function findRestore(audit: Audit, head: Known): Promise<Restore | undefined> {
  const restores = await audit.list({ event: 'installation.restored', limit: maxRestores });
  const found = restores.findLast(({ seq }) => seq <= head.seq);
  return found && { seq: found.seq, at: found.at, asOf: found.details.asOf };
}

function restoreLine({ seq, at, asOf }: Restore): string {
  return `Event ${seq}, of ${isoTime(at)}, is the restore of a backup of ${asOf}: what came after the backup is not in this log, nor is a head that was noted then.`;
}

/** What to do about a log that has not the head that was noted. */
function otherLog(restore: Restore | undefined): CliError {
  return new CliError(
    'The audit log does not have the head that was noted.',
    exitCodes.faultsFound,
    restore
      ? `If the head was noted before that restore, all is well: note the head of now, which ${programName} audit verify prints.`
      : 'The log has no restore of a backup that would explain it: compare it with the server’s log and with backups; gatehouse audit export prints what is there.',
  );
}

/**
 * Registers `gatehouse audit verify`.
 * @param command makes a command of `gatehouse audit` with the options they all have
 * @param io the surroundings
 */
export function registerAuditVerify(
  command: (name: string, description: string) => Command,
  io: CommandIo,
): void {
  command('verify', 'check that no event was changed, removed or added')
    .option(
      '--head <seq:hash>',
      'what an earlier check printed: shows a log that was put back as a whole',
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
            `Whole: ${verdict.rows} event${verdict.rows === 1 ? '' : 's'}.`,
            `Head: ${head}`,
            'Keep the head elsewhere, and check against it later with --head.',
          ]
        : [
            isOther ? 'Whole by itself, but not the log of that head:' : 'Not whole:',
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
        'Compare it with the server’s log and with backups; gatehouse audit export prints what is there.',
      );
    });
}
