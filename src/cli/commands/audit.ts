import { type Command, InvalidArgumentError } from 'commander';
import type { createAdministration } from '../../authorization-server/administration/administration.ts';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { type InstallationOptions, withAdministration } from '../open-administration.ts';
import { isoTime, operatorCommand } from '../operator-command.ts';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../output.ts';
import { parseWhole } from '../whole-number.ts';

type Administration = ReturnType<typeof createAdministration>;

interface Filter extends InstallationOptions {
  json?: boolean;
  event?: string;
  account?: string;
  client?: string;
  since?: number;
  until?: number;
}

type Fault = Awaited<ReturnType<Administration['audit']['verify']>>['faults'][number];

interface Known {
  seq: number;
  hash: string;
}

function parseTime(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time))
    throw new InvalidArgumentError('A time is written like 2026-01-31 or 2026-01-31T12:00:00Z.');
  return Math.floor(time / 1000);
}

function parseHead(text: string): Known {
  const [, seq, hash] = /^(\d{1,15}):([\w-]{43})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw new InvalidArgumentError(
      'A head is what gatehouse audit verify printed: a number, a colon and a hash.',
    );
  return { seq: Number(seq), hash };
}

function faultLine({ seq, fault }: Fault): string {
  if (fault !== 'ends_before_head') return `event ${seq}: ${fault.replaceAll('_', ' ')}`;
  const where = seq === 0 ? 'The log is empty, without' : `The log ends at event ${seq}, before`;
  return `${where} the head that was noted: it was cut off, or put back from a backup that is older than the note.`;
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

  operatorCommand(audit, 'verify', 'check that no event was changed, removed or added')
    .option(
      '--head <seq:hash>',
      'what an earlier check printed: shows a log that was put back as a whole',
      parseHead,
    )
    .action(async (options: InstallationOptions & { json?: boolean; head?: Known }) => {
      const verdict = await withAdministration(options, false, (administration) =>
        administration.audit.verify(options.head),
      );
      const head = verdict.head ? `${verdict.head.seq}:${verdict.head.hash}` : 'none';
      const isShort = verdict.faults.every(({ fault }) => fault === 'ends_before_head');
      const text = verdict.isWhole
        ? `Whole: ${verdict.rows} event${verdict.rows === 1 ? '' : 's'}.\nHead: ${head}\nKeep the head elsewhere, and check against it later with --head.`
        : `Not whole:\n${verdict.faults.map(faultLine).join('\n')}`;
      io.stdout.write(options.json ? formatJson({ ...verdict, head }) : `${text}\n`);
      if (!verdict.isWhole)
        throw new CliError(
          isShort
            ? 'The audit log does not reach the head that was noted.'
            : 'The audit log was changed by somebody who could write the database.',
          exitCodes.faultsFound,
          'Compare it with the server’s log and with backups; gatehouse audit export prints what is there.',
        );
    });
}
