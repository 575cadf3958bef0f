import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import type { createAdministration } from '../../authorization-server/administration/administration.ts';
import { AdministrationRefused } from '../../authorization-server/administration/administration-refused.ts';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { withAdministration } from '../open-administration.ts';
import { type CommandIo, formatJson } from '../output.ts';
import { loadSettingsReader } from '../settings-on-demand.ts';
import { nameFlags } from './client-flags.ts';
import type { AddClientCommand, ClientOptions } from './client-options.ts';

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

/** Registers `gatehouse client add`, the way to a client id where clients do not register themselves (A5-03). */
export function registerClientAdd(command: AddClientCommand, io: CommandIo): void {
  command('add <name>', 'add a client of yours; its secret, where it has one, is shown once')
    .option('--redirect-uri <uri>', 'where its codes may go; may be given several times', several)
    .option('--client-id <id>', 'its id; a random one by default')
    .addOption(
      new Option('--auth-method <method>', 'how it authenticates').choices(authMethods).default('none'),
    )
    .option(
      `--grant-type <type>`,
      `what it may ask for, of ${grantTypes.join(', ')}; may be given several times (default: the first two)`,
      several,
    )
    .option('--scope <scopes>', 'the most it may ask for, parted by spaces')
    .option('--jwks-file <file>', 'its public keys, a JSON Web Key Set')
    .option('--jwks-uri <url>', 'where its public keys are')
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
      if (clientSecret !== undefined) io.stderr.write('The secret is shown once: only its hash is kept.\n');
      if (isOff)
        io.stderr.write(
          'It gets no token for itself until clients.clientCredentials is true in the settings.\n',
        );
    });
}
