import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { createAdministration } from '../../../authorization-server/administration/administration.ts';
import { AdministrationRefused } from '../../../authorization-server/administration/administration-refused.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { parseWhole } from '../../option-parsers.ts';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../../output.ts';
import {
  type InstallationOptions,
  isoTime,
  loadSettingsReader,
  operatorCommand,
  withAdministration,
} from './installation.ts';

type Administration = ReturnType<typeof createAdministration>;
type ShownClient = Awaited<ReturnType<Administration['clients']['show']>>;

/** Maximum length of a client's own texts in a table. */
const cellLength = 60;

function cell(text: string): string {
  const line = printableLine(text);
  return line.length > cellLength ? `${line.slice(0, cellLength - 1)}…` : line;
}

function lastUse(epochSeconds: number | undefined): string {
  return epochSeconds === undefined ? 'never' : isoTime(epochSeconds);
}

function describe(client: ShownClient): string {
  const { clientId, kind, status, name, redirectUris, createdAt, usedAt, grants, metadata } = client;
  const said = Object.entries(metadata).map(([member, value]) => [`  ${member}`, JSON.stringify(value)]);
  return formatTable(
    [
      ['Client ID', clientId],
      ['Kind', kind],
      ['Status', status],
      ['Name', name],
      ['Redirect URIs', redirectUris.join(' ')],
      ['Registered', isoTime(createdAt)],
      ['Last used', lastUse(usedAt)],
      ['Grants', String(grants)],
      ['Its own metadata', ''],
      ...said,
    ].map((row) => row.map(keepIndent)),
  );
}

function keepIndent(text: string): string {
  return /^ */.exec(text)?.[0] + printableLine(text);
}

/** Registers `gatehouse client list|show|add|approve|deny|invite|remove`. */
export function registerClient(program: Command, io: CommandIo = processIo()): void {
  const client = program.command('client').description('OAuth clients of your server');
  const command: AddClientCommand = (name, description) => operatorCommand(client, name, description);
  const decision = (name: 'approve' | 'deny', description: string, done: string): void => {
    command(`${name} <client-id>`, description).action(async (clientId: string, options: ClientOptions) => {
      await withAdministration(options, false, ({ clients }) => clients[name](clientId));
      const status = name === 'approve' ? 'approved' : 'denied';
      io.stdout.write(options.json ? formatJson({ clientId, status }) : `${done}\n`);
    });
  };

  command('list', 'list the clients; the names are what the clients call themselves').action(
    async (options: ClientOptions) => {
      const clients = await withAdministration(options, false, (administration) =>
        administration.clients.list(),
      );
      const rows = clients.map((entry) => [
        printableLine(entry.clientId),
        entry.kind,
        entry.status,
        isoTime(entry.createdAt),
        lastUse(entry.usedAt),
        String(entry.grants),
        cell(entry.name),
        cell(entry.redirectUris.join(' ')),
      ]);
      const heading = [
        'CLIENT ID',
        'KIND',
        'STATUS',
        'REGISTERED',
        'LAST USED',
        'GRANTS',
        'NAME',
        'REDIRECT URIS',
      ];
      io.stdout.write(options.json ? formatJson(clients) : formatTable([heading, ...rows]));
    },
  );

  command('show <client-id>', 'show a client with its own metadata').action(
    async (clientId: string, options: ClientOptions) => {
      const shown = await withAdministration(options, false, ({ clients }) => clients.show(clientId));
      io.stdout.write(options.json ? formatJson(shown) : describe(shown));
    },
  );

  registerClientAdd(command, io);
  decision(
    'approve',
    'approve a client that waits for approval or was denied',
    'Approved. People can log in with it now.',
  );
  decision('deny', 'deny a client', 'Denied. Its tokens have ended, and nobody can log in with it.');
  registerClientInvite(command, io);

  command('remove <client-id>', 'remove a client with its tokens').action(
    async (clientId: string, options: ClientOptions) => {
      await withAdministration(options, false, ({ clients }) => clients.remove(clientId));
      const sentence = 'Removed. Its tokens have ended; it can register again.\n';
      io.stdout.write(options.json ? formatJson({ removed: clientId }) : sentence);
    },
  );
}

/** Options that every command of an operator about clients has. */
export interface ClientOptions extends InstallationOptions {
  json?: boolean;
}

/** Adds a command below `gatehouse client`. */
export type AddClientCommand = (name: string, description: string) => Command;

type ClientToAdd = Parameters<ReturnType<typeof createAdministration>['clients']['add']>[0];
type AuthMethod = NonNullable<ClientToAdd['authMethod']>;
type GrantType = NonNullable<ClientToAdd['grantTypes']>[number];

interface AddOptions extends ClientOptions {
  redirectUri?: string[];
  clientId?: string;
  authMethod: AuthMethod;
  grantType?: GrantType[];
  scope?: string;
  jwksFile?: string;
  jwksUri?: string;
}

const authMethods: readonly AuthMethod[] = [
  'none',
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
];
const grantTypes: readonly GrantType[] = ['authorization_code', 'refresh_token', 'client_credentials'];

function several(value: string, before: string[] = []): string[] {
  return [...before, value];
}

function readKeys(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new CliError('The file of --jwks-file cannot be read as JSON.', exitCodes.usage);
  }
}

function toClient(name: string, options: AddOptions): ClientToAdd {
  const { clientId, redirectUri, authMethod, grantType, scope, jwksFile, jwksUri } = options;
  return {
    name,
    redirectUris: redirectUri ?? [],
    authMethod,
    ...(clientId === undefined ? {} : { clientId }),
    ...(grantType === undefined ? {} : { grantTypes: grantType }),
    ...(scope === undefined ? {} : { scopes: scope.split(' ').filter((one) => one !== '') }),
    ...(jwksFile === undefined ? {} : { jwks: readKeys(jwksFile) }),
    ...(jwksUri === undefined ? {} : { jwksUri }),
  };
}

/** Registers `gatehouse client add`, for clients that do not register themselves (A5-03). */
function registerClientAdd(command: AddClientCommand, io: CommandIo): void {
  command('add <name>', 'register a client; its secret, if it has one, is shown once')
    .option('--redirect-uri <uri>', 'a redirect URI; repeatable', several)
    .option('--client-id <id>', 'client id (default: a random one)')
    .addOption(
      new Option('--auth-method <method>', 'how it authenticates at the token endpoint')
        .choices(authMethods)
        .default('none'),
    )
    .option(
      `--grant-type <type>`,
      `a grant type it may use: ${grantTypes.join(', ')}; repeatable (default: the first two)`,
      several,
    )
    .option('--scope <scopes>', 'scopes it may request, separated by spaces')
    .option('--jwks-file <file>', 'its public keys, a JSON Web Key Set')
    .option('--jwks-uri <url>', 'URL of its public keys')
    .action(async (name: string, options: AddOptions) => {
      const client = toClient(name, options);
      const isOff =
        client.grantTypes?.includes('client_credentials') &&
        !(await loadSettingsReader()).loadSome(options.config, ['clients']).clients.clientCredentials;
      const added = await withAdministration(options, false, ({ clients }) => clients.add(client)).catch(
        (error: unknown) => {
          if (!(error instanceof AdministrationRefused)) throw error;
          throw new CliError(nameFlags(error.message), exitCodes.usage, undefined, error.reason);
        },
      );
      const { clientId, clientSecret } = added;
      if (options.json) return void io.stdout.write(formatJson(added));
      io.stdout.write(`Client ID      ${clientId}\n`);
      if (clientSecret !== undefined) io.stdout.write(`Client secret  ${clientSecret}\n`);
      if (clientSecret !== undefined) io.stderr.write('The secret is shown once: only its hash is stored.\n');
      if (isOff)
        io.stderr.write(
          'It gets no token by client_credentials until clients.clientCredentials is true in the settings.\n',
        );
    });
}

/** Options and arguments of the command, by the member of a client that they set. */
const flags: Readonly<Record<string, string>> = {
  clientId: '--client-id',
  name: '<name>',
  redirectUris: '--redirect-uri',
  authMethod: '--auth-method',
  grantTypes: '--grant-type',
  jwks: '--jwks-file',
  jwksUri: '--jwks-uri',
  scopes: '--scope',
};

/** Members whose names are not English words, so they can be replaced anywhere in a sentence. */
const codeNames = /\b(clientId|redirectUris|authMethod|grantTypes|jwksUri|jwks)\b/g;

/**
 * Rewrites problems of a client in the words of the command line.
 * @param problems one a line, each beginning with the member it is about and, in a list, its place from 0
 */
export function nameFlags(problems: string): string {
  return problems
    .split('\n')
    .map((problem) =>
      problem
        .replace(/^(\w+)(?:\.(\d+))?:/, (all, member: string, at?: string) => {
          const flag = flags[member];
          if (flag === undefined) return all;
          return at === undefined ? `${flag}:` : `${flag} (number ${Number(at) + 1}):`;
        })
        .replace(codeNames, (member) => flags[member] ?? member),
    )
    .join('\n');
}

interface InviteOptions extends ClientOptions {
  uses: number;
  days: number;
}

const daySeconds = 86_400;

/** Registers `gatehouse client invite`, which prints an initial access token once (RFC 7591 section 3). */
function registerClientInvite(command: AddClientCommand, io: CommandIo): void {
  command('invite', 'create an initial access token for registering clients; it is shown once')
    .option('--uses <n>', 'number of clients that can register with it', parseWhole(1, 10_000), 1)
    .option('--days <n>', 'days until it expires', parseWhole(1, 365), 7)
    .action(async ({ uses, days, ...options }: InviteOptions) => {
      const { loadSome } = await loadSettingsReader();
      const { registration } = loadSome(options.config, ['clients']).clients;
      const invitation = await withAdministration(options, false, ({ clients }) =>
        clients.invite({ uses, lifeSeconds: days * daySeconds }),
      );
      const until = new Date(invitation.expiresAt * 1000).toISOString();
      io.stdout.write(options.json ? formatJson(invitation) : `${invitation.token}\n`);
      if (!options.json)
        io.stderr.write(
          `Shown once. For ${uses} client${uses === 1 ? '' : 's'}, until ${until}. Clients send it as Authorization: Bearer to /register.\n`,
        );
      if (registration !== 'initial_access_token')
        io.stderr.write(
          `It has no effect while clients.registration is ${registration}: only initial_access_token requires one.\n`,
        );
    });
}
