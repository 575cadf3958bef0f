import type { Command } from 'commander';
import { loadSettings } from '../../config/load.ts';
import { type InstallationOptions, withAdministration } from '../open-administration.ts';
import { type CommandIo, formatJson, formatTable, printableLine } from '../output.ts';

interface AccessOptions extends InstallationOptions {
  json?: boolean;
  end?: boolean;
}

function isoTime(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString();
}

/** The link a person is given: below the public URL of the settings, whatever anybody's request says (T-106). */
function linkOf({ config, data }: AccessOptions, path: string): string {
  const { publicUrl, listen } = loadSettings(config, { data });
  return `${publicUrl ?? `http://localhost:${listen.port}`}${path}`;
}

/**
 * Registers `gatehouse account reset|sessions|remove-factors`.
 * @param command makes a command of `gatehouse account` with the options they all have
 */
export function registerAccountAccess(
  command: (name: string, description: string) => Command,
  io: CommandIo,
): void {
  command(
    'reset <email>',
    'print a link with which a person sets a new password; it works once, for an hour',
  ).action(async (email: string, options: AccessOptions) => {
    const reset = await withAdministration(options, false, ({ accounts }) =>
      accounts.startPasswordReset(email),
    );
    const link = { link: linkOf(options, reset.path), expiresAt: reset.expiresAt };
    io.stdout.write(options.json ? formatJson(link) : `${link.link}\n`);
    if (!options.json)
      io.stderr.write(`Works once, until ${isoTime(reset.expiresAt)}. Give it to nobody but that person.\n`);
  });

  command('sessions <email>', 'list the logins of an account in browsers, or end them')
    .option('--end', 'end all of them; apps go on')
    .action(async (email: string, options: AccessOptions) => {
      if (options.end) {
        const ended = await withAdministration(options, false, ({ accounts }) => accounts.endSessions(email));
        const sentence = `Ended ${ended} of ${printableLine(email)}.\n`;
        io.stdout.write(options.json ? formatJson({ ended }) : sentence);
        return;
      }
      const sessions = await withAdministration(options, false, ({ accounts }) =>
        accounts.listSessions(email),
      );
      const rows = sessions.map(({ id, loggedInAt }) => [isoTime(loggedInAt), id]);
      io.stdout.write(options.json ? formatJson(sessions) : formatTable([['LOGGED IN', 'ID'], ...rows]));
    });

  command(
    'remove-factors <email>',
    'remove passkeys and one-time codes of somebody who lost their device',
  ).action(async (email: string, options: AccessOptions) => {
    const removed = await withAdministration(options, false, ({ accounts }) => accounts.removeFactors(email));
    const codes = removed.oneTimeCodes ? 'one-time codes are off' : 'one-time codes were off';
    const sentence = `Removed ${removed.passkeys} passkeys of ${printableLine(email)}; ${codes}.\n`;
    io.stdout.write(options.json ? formatJson(removed) : sentence);
  });
}
