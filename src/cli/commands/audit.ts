import { type Command, InvalidArgumentError } from 'commander';
import type { createAdministration } from '../../authorization-server/administration/administration.ts';
import { type InstallationOptions, withAdministration } from '../open-administration.ts';
import { isoTime, operatorCommand } from '../operator-command.ts';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../output.ts';
import { parseWhole } from '../whole-number.ts';
import { registerAuditVerify } from './audit-verify.ts';

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
