import type { Command } from 'commander';
import { loadSome } from '../../../config/load.ts';
import {
  type Configured,
  type ConfiguredUpstream,
  examineConfigured,
  listConfigured,
} from '../../../upstream/examination/configured.ts';
import type { UpstreamReport } from '../../../upstream/examination/examine-upstream.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import {
  type CommandIo,
  createPaint,
  formatJson,
  formatTable,
  printableLine,
  processIo,
} from '../../output.ts';
import { mark, type TextLook, wrapped } from '../doctor/report-style.ts';
import { type InstallationOptions, isoTime, operatorCommand, withAdministration } from './installation.ts';

interface UpstreamOptions extends InstallationOptions {
  json?: boolean;
  account?: string;
}

/** A report without a terminal is not broken into lines narrower than this. */
const defaultWidth = 100;

/** Settings that tell what the upstreams are. */
const settingNames = ['upstreams', 'publicUrl', 'listen', 'dangerously'] as const;

/** Takes the upstreams out of settings as they were loaded, and below which URL they stand. */
export function upstreamsOf({
  upstreams,
  publicUrl,
  listen,
  dangerously,
}: ReturnType<typeof loadSome<(typeof settingNames)[number]>>): Configured {
  return {
    upstreams,
    publicUrl: publicUrl ?? `http://localhost:${listen.port}`,
    dangerouslyFromLoopback: dangerously.upstreamsOverHttp,
  };
}

function configured({ config }: UpstreamOptions): Configured {
  return upstreamsOf(loadSome(config, settingNames));
}

/** @throws CliError where the settings have no upstream of this name; SettingsRefused */
function requireKnown(name: string, options: UpstreamOptions): void {
  const known = Object.keys(configured(options).upstreams);
  if (!known.includes(name)) throw unknownUpstream(name, known);
}

function unknownUpstream(name: string, known: readonly string[]): CliError {
  return new CliError(
    `The settings have no upstream ${printableLine(name)}.`,
    exitCodes.usage,
    known.length === 0 ? 'They name none: give --config.' : `They have ${known.join(', ')}.`,
  );
}

async function list(options: UpstreamOptions, io: CommandIo): Promise<void> {
  const upstreams = listConfigured(configured(options));
  const links = await withAdministration(options, true, (administration) => administration.upstreams.list());
  const gone = [...new Set(links.map(({ upstream }) => upstream))].filter(
    (name) => !upstreams.some((upstream) => upstream.name === name),
  );
  const named: (Pick<ConfiguredUpstream, 'name'> & Partial<ConfiguredUpstream>)[] = [
    ...upstreams,
    ...gone.map((name) => ({ name })),
  ];
  const rows = named.map((upstream) => {
    const of = links.filter((link) => link.upstream === upstream.name);
    return {
      ...upstream,
      inSettings: upstream.use !== undefined,
      accounts: of.length,
      withTokens: of.filter(({ hasTokens }) => hasTokens).length,
      unreachable: of.filter(({ unreachableSince }) => unreachableSince !== undefined).length,
    };
  });
  if (options.json) return void io.stdout.write(formatJson(rows));
  const cells = rows.map((row) => [
    row.name,
    printableLine(row.label ?? '-'),
    row.use ?? 'gone',
    String(row.accounts),
    String(row.withTokens),
    String(row.unreachable),
    row.callbackUrl ?? '-',
  ]);
  const heading = ['NAME', 'LABEL', 'FOR', 'ACCOUNTS', 'WITH TOKENS', 'NOT REACHED', 'CALLBACK URL'];
  io.stdout.write(formatTable([heading, ...cells]));
}

async function listLinks(name: string, options: UpstreamOptions, io: CommandIo): Promise<void> {
  const all = await withAdministration(options, false, (administration) => administration.upstreams.list());
  const links = all.filter(({ upstream }) => upstream === name);
  if (links.length === 0) requireKnown(name, options);
  if (options.json) return void io.stdout.write(formatJson(links));
  const cells = links.map((link) => [
    printableLine(link.email),
    printableLine(link.subject),
    isoTime(link.linkedAt),
    isoTime(link.checkedAt),
    isoTime(link.unreachableSince),
    link.hasTokens ? 'kept' : '-',
  ]);
  const heading = ['ACCOUNT', 'SUBJECT', 'LINKED', 'CHECKED', 'NOT REACHED SINCE', 'TOKENS'];
  io.stdout.write(formatTable([heading, ...cells]));
}

async function test(name: string, options: UpstreamOptions, io: CommandIo): Promise<void> {
  const settings = configured(options);
  const report = await examineConfigured(settings, name, io);
  if (!report) throw unknownUpstream(name, Object.keys(settings.upstreams));
  const width = io.stdout.isTTY ? (io.stdout.columns ?? defaultWidth) : defaultWidth;
  io.stdout.write(
    options.json
      ? formatJson(report)
      : formatUpstreamReport(report, { paint: createPaint(io.stdout, io.env), width }),
  );
  if (report.outcome === 'faults') throw new CliError(`Faults were found at ${name}.`, exitCodes.faultsFound);
  if (report.outcome === 'not_examined')
    throw new CliError(`The upstream ${name} was not reached.`, exitCodes.notExamined);
}

async function end(name: string, options: UpstreamOptions, io: CommandIo): Promise<void> {
  const { account: email } = options;
  const ended = await withAdministration(options, false, async ({ upstreams }) => {
    const isLinked = (await upstreams.list()).some(({ upstream }) => upstream === name);
    if (!isLinked) requireKnown(name, options);
    return upstreams.end(name, email);
  });
  const whose = email === undefined ? 'everybody' : printableLine(email);
  io.stdout.write(
    options.json
      ? formatJson({ ended: name, ...(email === undefined ? {} : { account: email }), ...ended })
      : `Ended for ${whose}: links ${ended.links}, grants ${ended.grants}, browser logins ${ended.logins}. The running server gives the tokens back to ${name}.\n`,
  );
}

/** Registers `gatehouse upstream list|test|end`. @param io its surroundings; those of the process by default */
export function registerUpstream(program: Command, io: CommandIo = processIo()): void {
  const upstream = program
    .command('upstream')
    .description('third parties that people log in at: what they say, who is linked, and ending it');

  operatorCommand(
    upstream,
    'list [name]',
    'list the upstreams of the settings with how many are linked, or who is linked with one',
  ).action((name: string | undefined, options: UpstreamOptions) =>
    name === undefined ? list(options, io) : listLinks(name, options, io),
  );

  operatorCommand(
    upstream,
    'test <name>',
    'look at an upstream as far as can be told without a login, and say what to mend; changes nothing',
  )
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing to mend, 8 faults were found, 9 the upstream could not be asked.',
    )
    .action((name: string, options: UpstreamOptions) => test(name, options, io));

  operatorCommand(
    upstream,
    'end <name>',
    'end all that came of logins there: grants, tokens, streams and browser logins, within a second',
  )
    .option('--account <email>', 'only of this account')
    .action((name: string, options: UpstreamOptions) => end(name, options, io));
}

/** Where what was seen begins, behind the verdict. */
const idWidth = 15;

const sentences: Readonly<Record<UpstreamReport['outcome'], string>> = {
  sound: 'Nothing to mend was found. Whether a login goes well in the end, a login tells.',
  faults: 'There is something to mend.',
  not_examined: 'It could not be asked.',
};

/**
 * Writes what was found out about an upstream: a line a check, under it what to change.
 * @param report names of checks and sentences; of the upstream's own texts only names from its metadata
 * @param look of this output
 */
export function formatUpstreamReport(report: UpstreamReport, look: TextLook): string {
  const indent = 11 + idWidth;
  const lines = report.findings.flatMap(({ id, verdict, saw, fix }) => [
    `${mark(verdict, look)} ${id.padEnd(idWidth)} ${wrapped(saw, indent, look.width)}`,
    ...(fix === undefined ? [] : [`${' '.repeat(indent)}${wrapped(`-> ${fix}`, indent, look.width)}`]),
  ]);
  return [
    look.paint('bold', `Upstream ${report.upstream}`),
    `Callback URL to register there: ${report.callbackUrl}`,
    '',
    ...lines,
    '',
    sentences[report.outcome],
    '',
  ].join('\n');
}
