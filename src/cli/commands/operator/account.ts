import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import type { createAdministration } from '../../../authorization-server/administration/administration.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import {
  type CommandIo,
  formatJson,
  formatTable,
  isTerminal,
  printableLine,
  processIo,
} from '../../output.ts';
import {
  type InstallationOptions,
  isoTime,
  loadSettingsReader,
  operatorCommand,
  withAdministration,
} from './installation.ts';

type ShownAccount = Awaited<ReturnType<ReturnType<typeof createAdministration>['accounts']['show']>>;

interface AccountOptions extends InstallationOptions {
  json?: boolean;
  passwordStdin?: boolean;
}

function describe(account: ShownAccount): string[][] {
  const { id, email, createdAt, disabledAt, upstreams = [], identities = [] } = account;
  return [
    ['E-mail', printableLine(email)],
    ['Id', id],
    ['Added', isoTime(createdAt)],
    ['Disabled', disabledAt === undefined ? 'no' : `since ${isoTime(disabledAt)}`],
    ...(upstreams.length === 0 ? [] : [['Upstreams', upstreams.join(', ')]]),
    ...identities.map(({ issuer, subject, linkedAt }) => [
      'Elsewhere',
      `${printableLine(subject)} at ${printableLine(issuer)}, since ${isoTime(linkedAt)}`,
    ]),
  ];
}

/** Registers `gatehouse account add|list|show|disable|enable|reset|sessions|remove-factors|remove|password`. */
export function registerAccount(program: Command, io: CommandIo = processIo()): void {
  const account = program.command('account').description('accounts of people who can log in to your server');
  const command = (name: string, description: string): Command => operatorCommand(account, name, description);
  const say = (options: AccountOptions, value: unknown, sentence: string): void => {
    io.stdout.write(options.json ? formatJson(value) : `${sentence}\n`);
  };

  command('add <email>', 'add an account')
    .option('--password-stdin', 'read the password from standard input instead of asking')
    .action(async (email: string, options: AccountOptions) => {
      const password = await readNewPassword(options.passwordStdin === true, io.stdin);
      const added = await withAdministration(options, true, ({ accounts }) => accounts.add(email, password));
      say(options, added, `Added ${printableLine(added.email)}.`);
    });

  command('list', 'list the accounts').action(async (options: AccountOptions) => {
    const accounts = await withAdministration(options, false, (administration) =>
      administration.accounts.list(),
    );
    const rows = accounts.map(({ email, createdAt, disabledAt, id, upstreams = [] }) => [
      printableLine(email),
      isoTime(createdAt),
      disabledAt === undefined ? 'active' : 'disabled',
      id,
      upstreams.join(', '),
    ]);
    const heading = ['E-MAIL', 'ADDED', 'STATE', 'ID', 'UPSTREAMS'];
    io.stdout.write(options.json ? formatJson(accounts) : formatTable([heading, ...rows]));
  });

  command('show <email>', 'show one account').action(async (email: string, options: AccountOptions) => {
    const shown = await withAdministration(options, false, ({ accounts }) => accounts.show(email));
    io.stdout.write(options.json ? formatJson(shown) : formatTable(describe(shown)));
  });

  command(
    'disable <email>',
    'disable an account: nobody can log in to it, and its sessions and tokens end at once',
  ).action(async (email: string, options: AccountOptions) => {
    await withAdministration(options, false, ({ accounts }) => accounts.disable(email));
    say(
      options,
      { disabled: email },
      `Disabled ${printableLine(email)}. Its sessions and tokens have ended.`,
    );
  });

  command('enable <email>', 'enable a disabled account').action(
    async (email: string, options: AccountOptions) => {
      await withAdministration(options, false, ({ accounts }) => accounts.enable(email));
      say(options, { enabled: email }, `Enabled ${printableLine(email)}.`);
    },
  );

  registerAccountAccess(command, io);

  command('remove <email>', 'remove an account with its notes, sessions and tokens').action(
    async (email: string, options: AccountOptions) => {
      await withAdministration(options, false, ({ accounts }) => accounts.remove(email));
      say(
        options,
        { removed: email },
        `Removed ${printableLine(email)}. Its sessions and tokens have ended.`,
      );
    },
  );

  command('password <email>', 'set a new password, and end every session and token of the account')
    .option('--password-stdin', 'read the password from standard input instead of asking')
    .action(async (email: string, options: AccountOptions) => {
      const password = await readNewPassword(options.passwordStdin === true, io.stdin);
      await withAdministration(options, false, ({ accounts }) => accounts.setPassword(email, password));
      say(
        options,
        { changed: email },
        `Changed the password. The sessions and tokens of ${printableLine(email)} have ended.`,
      );
    });
}

interface AccessOptions extends InstallationOptions {
  json?: boolean;
  end?: boolean;
  publicUrl?: string;
}

/** Returns the start of the link: the public URL of the command or the settings, never of a request (T-106). */
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
function registerAccountAccess(command: (name: string, description: string) => Command, io: CommandIo): void {
  command('reset <email>', 'print a link for setting a new password; it works once, for an hour')
    .option('--public-url <url>', 'public URL of the server, if the settings do not set it')
    .action(async (email: string, options: AccessOptions) => {
      const { base, isGuessed } = await baseOf(options);
      const reset = await withAdministration(options, false, ({ accounts }) =>
        accounts.startPasswordReset(email),
      );
      const link = `${base}${reset.path}`;
      io.stdout.write(options.json ? formatJson({ link, expiresAt: reset.expiresAt }) : `${link}\n`);
      if (!options.json)
        io.stderr.write(`Works once, until ${isoTime(reset.expiresAt)}. Give it only to that person.\n`);
      if (isGuessed)
        io.stderr.write(
          'The settings have no publicUrl. If people reach the server at another URL, give --config or --public-url.\n',
        );
    });

  command('sessions <email>', 'list or end the browser logins of an account')
    .option('--end', 'end all of them; apps stay logged in')
    .action(async (email: string, options: AccessOptions) => {
      if (options.end) {
        const ended = await withAdministration(options, false, ({ accounts }) => accounts.endSessions(email));
        const sentence = `Ended ${ended} browser login${ended === 1 ? '' : 's'} of ${printableLine(email)}.\n`;
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
    'remove passkeys and one-time codes of a person who lost their device',
  ).action(async (email: string, options: AccessOptions) => {
    const removed = await withAdministration(options, false, ({ accounts }) => accounts.removeFactors(email));
    const codes = removed.oneTimeCodes ? 'one-time codes are off' : 'one-time codes were off';
    const sentence = `Removed ${removed.passkeys} passkey${removed.passkeys === 1 ? '' : 's'} of ${printableLine(email)}; ${codes}.\n`;
    io.stdout.write(options.json ? formatJson(removed) : sentence);
  });
}

/** More than the longest accepted password. */
const maxInputBytes = 4096;

async function readAll(stdin: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk as string | Uint8Array);
    chunks.push(bytes);
    length += bytes.length;
    if (length > maxInputBytes) break;
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

function ask(question: string, stdin: Readable): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: stdin, output: silent, terminal: true });
  process.stderr.write(question);
  return new Promise((resolve, reject) => {
    prompt.once('SIGINT', () => prompt.close());
    // Ctrl+C, Ctrl+D and a terminal that goes away; after an answer it changes nothing.
    prompt.once('close', () => {
      process.stderr.write('\n');
      reject(new CliError('Nothing was changed.', exitCodes.usage));
    });
    prompt.question('', (answer) => {
      resolve(answer);
      prompt.close();
    });
  });
}

/**
 * Reads a new password from standard input, or asks for it twice without showing it. It is never an argument, because other
 * users of the machine can read arguments (T-191).
 * @throws CliError if there is no terminal, nobody answers, or the two passwords differ
 */
export async function readNewPassword(fromStdin: boolean, stdin: Readable): Promise<string> {
  if (fromStdin) return readAll(stdin);
  if (!isTerminal(stdin))
    throw new CliError(
      'There is no terminal to ask for the password.',
      exitCodes.usage,
      'Pipe it in with --password-stdin.',
    );
  const password = await ask('New password: ', stdin);
  if ((await ask('Repeat the new password: ', stdin)) !== password)
    throw new CliError('The two passwords differ.', exitCodes.usage);
  return password;
}
