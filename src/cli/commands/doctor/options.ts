import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Sealing, sealings } from '../../../client/node/index.ts';
import { type Threshold, thresholds, type VerifyMeans } from '../../../doctor/index.ts';
import { parseWhole } from '../../option-parsers.ts';
import { programName } from '../../output.ts';

/** Options of `gatehouse doctor`, as commander parses them. */
export interface DoctorCommandOptions {
  only?: string[];
  skip?: string[];
  list?: boolean;
  timeout?: number;
  active?: boolean;
  browser?: boolean;
  paste?: boolean;
  callbackPort?: number;
  clientId?: string;
  clientMetadataUrl?: string;
  clientName?: string;
  otherResource?: string;
  as?: string[];
  proxy?: boolean;
  idleSeconds?: number;
  store?: Sealing;
  verbose?: boolean;
  json?: boolean;
  junit?: boolean;
  bundle?: string;
  failOn?: Threshold;
}

function parseIds(value: string, earlier: string[] = []): string[] {
  const ids = value.split(',').map((id) => id.trim().toUpperCase());
  if (ids.some((id) => !/^[A-Z0-9-]+$/.test(id)))
    throw new InvalidArgumentError('Ids look like PRM-RESOURCE, several with commas between them.');
  return [...earlier, ...ids];
}

function parseNames(value: string, earlier: string[] = []): string[] {
  return [...earlier, ...value.split(',').map((name) => name.trim().toLowerCase())];
}

/** Adds the options of `gatehouse doctor` to its command, in groups. */
export function addDoctorOptions(command: Command): Command {
  return command
    .optionsGroup('Checks:')
    .option('--only <ids>', 'only these checks, separated by commas (repeatable)', parseIds)
    .option('--skip <ids>', 'not these checks', parseIds)
    .option(
      '--as <clients>',
      'only check if these known clients can connect: all, claude-code, cursor, vscode, ... (repeatable)',
      parseNames,
    )
    .option('--list', 'list all checks, and examine nothing')
    .option('--timeout <seconds>', 'maximum wait for one response (default: 10)', parseWhole(1, 600))
    .optionsGroup('Login and network:')
    .option('--active', 'register clients and log in, with at most two consents; revoked at the end')
    .option('--no-browser', 'only print the URLs to open')
    .option('--paste', 'read the redirect URL of a browser on another machine from standard input')
    .option(
      '--callback-port <port>',
      'port of the redirect listener (default: a free one)',
      parseWhole(1, 65_535),
    )
    .option('--client-id <id>', 'log in as this client, if the server registers none')
    .option('--client-metadata-url <url>', 'examine and use this client ID metadata document')
    .option('--client-name <name>', 'register with this name, if the server allows only some')
    .option(
      '--other-resource <url>',
      'another server of the same authorization server, whose tokens must not count',
    )
    .option('--proxy', 'examine the proxy in front: buffering, headers, idle timeouts (takes a minute)')
    .option(
      '--idle-seconds <seconds>',
      'seconds to watch a silent stream with --proxy (default: 75)',
      parseWhole(1, 3600),
    )
    .addOption(
      new Option(
        '--store <kind>',
        'encryption of the file with your logins, from which tokens are read',
      ).choices(sealings),
    )
    .optionsGroup('Report:')
    .option('--verbose', 'show every check and what was seen')
    .addOption(new Option('--json', 'the report as JSON').conflicts('junit'))
    .option('--junit', 'the report as JUnit XML')
    .option('--bundle <file>', 'also write report and exchanges, without secrets, for a bug report')
    .addOption(
      new Option(
        '--fail-on <verdict>',
        'verdicts that end with exit code 8: fail, warn (and fail), unknown (and both)',
      )
        .choices(thresholds)
        .default('fail'),
    );
}

/** Sections that log in, and use the options of a login. */
const ofLogins = ['registration', 'login', 'token', 'proxy'];

function argument(name: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [name, String(value)];
}

/**
 * Returns how to write the commands that verify a finding: with the options that its check had.
 */
export function verifyMeans(options: DoctorCommandOptions): VerifyMeans {
  const timeout = argument('--timeout', options.timeout);
  const callbackPort = argument('--callback-port', options.callbackPort);
  const ofLogin = [
    ...callbackPort,
    ...argument('--client-id', options.clientId),
    ...argument('--client-metadata-url', options.clientMetadataUrl),
    ...argument('--client-name', options.clientName),
    ...argument('--other-resource', options.otherResource),
    ...argument('--store', options.store),
    ...(options.browser === false ? ['--no-browser'] : []),
    ...(options.paste ? ['--paste'] : []),
  ];
  return {
    program: programName,
    active: options.active ?? false,
    given: (section) => [
      ...timeout,
      ...(section === 'machine' ? callbackPort : []),
      ...(ofLogins.includes(section) ? ofLogin : []),
      ...(section === 'proxy' ? argument('--idle-seconds', options.idleSeconds) : []),
    ],
  };
}
