import type { Command } from 'commander';
import { type InstallationOptions, withAdministration } from '../open-administration.ts';
import { isoTime } from '../operator-command.ts';
import { type CommandIo, formatJson, formatTable, printableLine } from '../output.ts';
import { loadSettingsReader } from '../settings-on-demand.ts';

interface AccessOptions extends InstallationOptions {
  json?: boolean;
  end?: boolean;
  publicUrl?: string;
}

/** What the link a person is given begins with: the public URL of the command or the settings, whatever anybody's request says (T-106). */
async function baseOf({
  config,
  publicUrl: given,
}: AccessOptions): Promise<{ base: string; isGuessed: boolean }> {
  const { loadSettings, loadSome } = await loadSettingsReader();
  const { publicUrl } =
    given === undefined ? loadSome(config, ['publicUrl']) : loadSettings(undefined, { publicUrl: given });
  return publicUrl === undefined
    ? { base: `http://localhost:${loadSome(config, ['listen']).listen.port}`, isGuessed: true }
    : { base: publicUrl, isGuessed: false };
}

/**
 * Registers `gatehouse account reset|sessions|remove-factors`.
 * @param command makes a command of `gatehouse account` with the options they all have
 */
export function registerAccountAccess(
  command: (name: string, description: string) => Command,
  io: CommandIo,
): void {
  command('reset <email>', 'print a link with which a person sets a new password; it works once, for an hour')
    .option('--public-url <url>', 'where people reach the server, where the settings do not say it')
    .action(async (email: string, options: AccessOptions) => {
      const { base, isGuessed } = await baseOf(options);
      const reset = await withAdministration(options, false, ({ accounts }) =>
        accounts.startPasswordReset(email),
      );
      const link = `${base}${reset.path}`;
      io.stdout.write(options.json ? formatJson({ link, expiresAt: reset.expiresAt }) : `${link}\n`);
      if (!options.json)
        io.stderr.write(
          `Works once, until ${isoTime(reset.expiresAt)}. Give it to nobody but that person.\n`,
        );
      if (isGuessed)
        io.stderr.write(
          'The settings name no publicUrl: where the server is reached elsewhere, give --config or --public-url.\n',
        );
    });

  command('sessions <email>', 'list the logins of an account in browsers, or end them')
    .option('--end', 'end all of them; apps go on')
    .action(async (email: string, options: AccessOptions) => {
      if (options.end) {
        const ended = await withAdministration(options, false, ({ accounts }) => accounts.endSessions(email));
        const sentence = `Ended ${ended} login${ended === 1 ? '' : 's'} of ${printableLine(email)} in browsers.\n`;
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
    const sentence = `Removed ${removed.passkeys} passkey${removed.passkeys === 1 ? '' : 's'} of ${printableLine(email)}; ${codes}.\n`;
    io.stdout.write(options.json ? formatJson(removed) : sentence);
  });
}
