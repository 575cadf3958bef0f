import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Sealing, sealings } from '../../../client/node/index.ts';
import { parseWhole } from '../../option-parsers.ts';
import { traceOption } from './connection-options.ts';

/** Grant types of machine logins. */
const machineGrants = ['client_credentials', 'workload_identity'] as const;

/** Options of `gatehouse login`, as commander parses them. */
export interface LoginCommandOptions {
  scope?: string;
  browser?: boolean;
  paste?: boolean;
  device?: boolean;
  callbackPort?: number;
  timeout?: number;
  clientId?: string;
  clientSecretStdin?: boolean;
  clientSecretFile?: string;
  privateKey?: string;
  clientMetadataUrl?: string;
  /** A file, or `-` for standard input. */
  initialAccessTokenFile?: string;
  grant?: (typeof machineGrants)[number];
  assertionFile?: string;
  issuer?: string;
  dpop?: boolean;
  allowOrigin?: string[];
  /** False leaves the resource parameter out. */
  resource?: boolean;
  store?: Sealing;
  trace?: boolean;
  json?: boolean;
}

function parseScope(value: string): string {
  if (!/^[\x21\x23-\x5B\x5D-\x7E ]+$/.test(value))
    throw new InvalidArgumentError('Scopes are words separated by spaces.');
  return value;
}

function parseOrigin(value: string, earlier: string[] = []): string[] {
  const url = URL.parse(value);
  if (url?.origin !== value) throw new InvalidArgumentError('An origin looks like https://login.example.com');
  return [...earlier, value];
}

/** Adds the options of `gatehouse login` to its command, in groups. None takes a secret itself (T-191). */
export function addLoginOptions(command: Command): Command {
  return command
    .optionsGroup('What to request:')
    .option(
      '--scope <scopes>',
      'these scopes, separated by spaces, instead of those the server names',
      parseScope,
    )
    .option('--dpop', 'get a token bound to a key of this machine (DPoP), useless to a thief')
    .optionsGroup('How you log in:')
    .option('--no-browser', 'only print the URL to open')
    .option('--device', 'enter a code on any other device')
    .option('--paste', 'read the redirect URL of a browser on another machine from standard input')
    .option(
      '--callback-port <port>',
      'port on 127.0.0.1 for the redirect (default: any free port)',
      parseWhole(1, 65_535),
    )
    .option('--timeout <seconds>', 'maximum wait for the user (default: 300)', parseWhole(1, 3600))
    .optionsGroup('Pre-registered client:')
    .option('--client-id <id>', 'use this client id instead of registering')
    .option('--client-secret-stdin', 'read its secret from standard input')
    .option('--client-secret-file <file>', 'read its secret from a file')
    .option('--private-key <file>', 'its private key instead of a secret: PEM (PKCS #8) or a JSON Web Key')
    .option(
      '--client-metadata-url <url>',
      'URL of a client ID metadata document, used if the server supports it',
    )
    .optionsGroup('Restricted registration:')
    .option(
      '--initial-access-token-file <file>',
      'file with the initial access token from the operator; - for standard input',
    )
    .optionsGroup('Machine login, without a user:')
    .addOption(new Option('--grant <grant>', 'log in with this grant type').choices(machineGrants))
    .option(
      '--assertion-file <file>',
      'file with the token that the platform issued to this workload (workload_identity)',
    )
    .optionsGroup('Trust and storage:')
    .option('--issuer <url>', 'log in at this authorization server only')
    .option('--allow-origin <origin>', 'accept token endpoints on this origin too (repeatable)', parseOrigin)
    .option('--no-resource', 'omit the resource parameter, for an authorization server that rejects it')
    .addOption(
      new Option(
        '--store <how>',
        'store logins encrypted with a key of the keychain, in plain text for you only, or encrypted if possible (default: GATEHOUSE_STORE, else auto)',
      ).choices(sealings),
    )
    .optionsGroup('Output:')
    .option(...traceOption)
    .option('--json', 'print the login as JSON');
}
