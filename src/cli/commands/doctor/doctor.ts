import { access, constants, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { quote } from '../../../client/quote.ts';
import {
  countConsents,
  describeProfile,
  examine,
  findCauses,
  outcomeOf,
  type Report,
  toBundle,
  toJsonReport,
  toJunit,
} from '../../../doctor/index.ts';
import { packageVersion } from '../../../package-files.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import {
  type CommandIo,
  createPaint,
  formatJson,
  printableLine,
  processIo,
  programName,
} from '../../output.ts';
import { startProgressLine } from '../../progress-line.ts';
import { hintAtScheme } from '../mcp-client/client-failure.ts';
import { checksOf, chosenClients, chosenIds, requireKnownIds } from './checks.ts';
import { doctorLogin } from './login.ts';
import { addDoctorOptions, type DoctorCommandOptions, verifyMeans } from './options.ts';
import { formatCheckList, formatReport, summarize } from './report-text.ts';

/** Line width of a report without a terminal. */
const defaultWidth = 100;

function write(report: Report, options: DoctorCommandOptions, io: CommandIo): void {
  const threshold = options.failOn ?? 'fail';
  if (options.junit) io.stdout.write(toJunit(report, threshold));
  else if (options.json)
    io.stdout.write(
      formatJson(
        toJsonReport(report, { version: packageVersion(), threshold, verify: verifyMeans(options) }),
      ),
    );
  else {
    const width = io.stdout.isTTY ? (io.stdout.columns ?? defaultWidth) : defaultWidth;
    io.stdout.write(
      formatReport(report, {
        paint: createPaint(io.stdout, io.env),
        width,
        isVerbose: options.verbose,
        verify: verifyMeans(options),
      }),
    );
    if (options.verbose && options.as)
      io.stdout.write(`\n${chosenClients(options).map(describeProfile).join('\n\n')}\n`);
  }
}

function unwritable(file: string, { code }: NodeJS.ErrnoException): CliError {
  return new CliError(`The bundle cannot be written to ${file}: ${code}.`, exitCodes.usage);
}

/** Requires that a file can be written after the examination. @throws CliError exit code 2 */
async function requireWritable(file: string): Promise<void> {
  try {
    const found = await stat(file).catch(() => undefined);
    if (found?.isDirectory()) throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
    await access(found === undefined ? dirname(file) : file, constants.W_OK);
  } catch (error) {
    throw unwritable(file, error as NodeJS.ErrnoException);
  }
}

async function writeBundle(file: string, report: Report, options: DoctorCommandOptions): Promise<void> {
  const bundle = toBundle(report, {
    version: packageVersion(),
    threshold: options.failOn ?? 'fail',
    verify: verifyMeans(options),
    environment: { node: process.versions.node, platform: process.platform },
  });
  await writeFile(file, formatJson(bundle), { mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    throw unwritable(file, error);
  });
}

/**
 * Runs `gatehouse doctor`: examines an MCP server and finds out why clients cannot connect. The report goes to standard output,
 * progress to standard error.
 * @param url URL of the MCP server, as clients are given it
 * @throws CliError exit code 2 if the URL is not valid or the bundle cannot be written, 8 if problems were found, 9 if the server could not be examined
 */
export async function runDoctor(
  url: string | undefined,
  options: DoctorCommandOptions,
  io: CommandIo,
): Promise<void> {
  const progress = { line: undefined as ReturnType<typeof startProgressLine> | undefined };
  const checks = checksOf(options, io, (left) =>
    progress.line?.say(`Watching a silent stream, ${left} s to go`),
  );
  if (options.list) {
    io.stdout.write(formatCheckList(checks, options, io));
    return;
  }
  if (url === undefined)
    throw new CliError(
      'Give the URL of an MCP server.',
      exitCodes.usage,
      `For example: ${programName} doctor http://localhost:3000/mcp`,
    );
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new CliError(
      `The URL ${quote(url)} is not an http or https URL.`,
      exitCodes.usage,
      hintAtScheme(url),
    );
  if (options.bundle !== undefined) await requireWritable(options.bundle);
  const wanted = { only: chosenIds(options), skip: options.skip };
  const running = requireKnownIds(checks, wanted);
  const say = (line: string): void => {
    progress.line?.pause();
    io.stderr.write(`${printableLine(line)}\n`);
  };
  const stop = new AbortController();
  const login = doctorLogin(options, io, say, stop.signal);
  const consents = options.active && login.withAgent ? countConsents(running) : 0;
  if (consents > 0)
    say(
      `You will be asked to consent ${consents === 1 ? 'once' : 'twice'}. The logins are revoked at the end.`,
    );
  const interrupt = (): void => stop.abort();
  process.once('SIGINT', interrupt);
  progress.line = startProgressLine(io, `Examining ${url}`);
  try {
    const report = await examine({
      url,
      fetch: io.fetch,
      now: io.now,
      checks,
      login,
      ...wanted,
      active: options.active ?? false,
      ...(options.timeout === undefined ? {} : { timeoutMs: options.timeout * 1000 }),
      signal: stop.signal,
      onCheck: ({ title }, at, count) => progress.line?.say(`${at}/${count} ${title}`),
    });
    progress.line.end();
    write(report, options, io);
    if (options.bundle !== undefined) {
      await writeBundle(options.bundle, report, options);
      say(`The bundle is in ${options.bundle}. It contains no tokens; read it before you share it.`);
    }
    conclude(report, options);
  } finally {
    progress.line.end();
    process.removeListener('SIGINT', interrupt);
    // A login that took too long, so that its check was given up, may still wait for the user.
    stop.abort();
  }
}

/** Ends the command by the result of the report. @throws CliError unless it is sound */
function conclude(report: Report, options: DoctorCommandOptions): void {
  const outcome = outcomeOf(report, options.failOn ?? 'fail');
  if (outcome === 'sound') return;
  const causes = findCauses(report.findings).map(({ finding }) => finding.id);
  if (outcome === 'faults')
    throw new CliError(
      `Problems were found. ${causes.length > 0 ? `Fix first: ${causes.slice(0, 3).join(', ')}` : summarize(report)}`,
      exitCodes.faultsFound,
    );
  throw new CliError(
    report.stopped ? 'The examination was stopped.' : `The server could not be examined: ${causes[0]}.`,
    exitCodes.notExamined,
  );
}

const help = `
Examples:
  ${programName} doctor https://mcp.example.com/mcp             what can be seen without a login
  ${programName} doctor --active https://mcp.example.com/mcp    registers, logs in, and cleans up behind itself
  ${programName} doctor --only PRM-RESOURCE https://mcp.example.com/mcp
  ${programName} doctor --junit --fail-on warn https://mcp.example.com/mcp > doctor.xml

Verdicts: pass, warn (some clients fail), fail (clients fail), skip (not applicable, or because of another
check), unknown (cannot be decided from here; never counted as pass).
Exit codes: 0 no problems, 8 problems were found, 9 the server could not be examined.`;

/** Adds `gatehouse doctor`. */
export function registerDoctor(program: Command, io: CommandIo = processIo()): void {
  const command = program
    .command('doctor')
    .description('find out why a client cannot connect: examine an MCP server, its login and this machine')
    .argument('[url]', 'URL of the MCP server, as clients are given it');
  addDoctorOptions(command).addHelpText('after', help);
  command.action((url: string | undefined, options: DoctorCommandOptions) => runDoctor(url, options, io));
}
