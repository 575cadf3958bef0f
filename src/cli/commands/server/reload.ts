import type { Command } from 'commander';
import type { ReloadOutcome } from '../../../index.ts';
import { SettingsRefused } from '../../../settings/issues.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type Answers, askServers, failureOfSome } from '../../control/ask-servers.ts';
import { type CommandIo, formatJson, printableLine, processIo } from '../../output.ts';
import { findDataFolder, type InstallationOptions, operatorCommand } from '../operator/installation.ts';

interface ReloadCommandOptions extends InstallationOptions {
  json?: boolean;
}

const hint = 'Mend the config file, and reload again; gatehouse check-config looks at it before.';

type Refused = Extract<ReloadOutcome, { problems: unknown }>;

function isRefused(outcome: ReloadOutcome): outcome is Refused {
  return 'problems' in outcome;
}

function refusal({ problems }: Refused, where: string): string {
  return `Nothing has changed${where}: the settings cannot be used.\n${problems.map((problem) => `- ${problem}`).join('\n')}`;
}

/** A file that does not say where the data is cannot be used by a server either: gives what is wrong with it. */
async function locate(
  options: InstallationOptions,
): Promise<{ folder: string } | { refused: Refused; advice: string }> {
  try {
    return { folder: await findDataFolder(options) };
  } catch (error) {
    const refused = [error, (error as Error).cause].find((one) => one instanceof SettingsRefused);
    if (!refused) throw error;
    const advice = (error instanceof CliError && error.hint) || hint;
    return { refused: { problems: refused.problems }, advice };
  }
}

/** Prints what became of it in each server. @throws CliError where one of them did not take the file */
function report(answers: Answers, json: boolean | undefined, io: CommandIo): void {
  const servers = answers.answered.map(({ pid, body }) => ({ pid, outcome: body as ReloadOutcome }));
  const isAlone = servers.length + answers.failed.length === 1;
  if (json) {
    const each = servers.map(({ pid, outcome }) => ({ pid, ...outcome }));
    const failures = answers.failed.map(({ pid, failure }) => ({ pid, failure: failure.message }));
    io.stdout.write(formatJson(isAlone ? servers[0]?.outcome : { servers: [...each, ...failures] }));
  }
  const refusals: string[] = [];
  for (const { pid, outcome } of servers)
    if (isRefused(outcome)) refusals.push(refusal(outcome, isAlone ? '' : ` in process ${pid}`));
    else if (!json) io.stdout.write(`${isAlone ? '' : `Process ${pid}:\n`}${describeReload(outcome)}\n`);
  const failure = failureOfSome(answers);
  if (refusals.length > 0)
    throw new CliError(
      [...refusals, ...(failure ? [failure.message] : [])].join('\n'),
      exitCodes.usage,
      hint,
    );
  if (failure) throw failure;
}

/** Registers `gatehouse reload`. @param io its surroundings; those of the process by default */
export function registerReload(program: Command, io: CommandIo = processIo()): void {
  operatorCommand(
    program,
    'reload',
    'have the running servers read their config file again: routes change at once, the rest at their next start',
  ).action(async (options: ReloadCommandOptions) => {
    const found = await locate(options);
    if ('folder' in found)
      return report(await askServers(found.folder, { method: 'POST', path: '/reload' }), options.json, io);
    if (options.json) io.stdout.write(formatJson(found.refused));
    throw new CliError(refusal(found.refused, ''), exitCodes.usage, found.advice);
  });
}

const changes = ['added', 'changed', 'removed'] as const;

function listed(routes: readonly string[]): string {
  return routes.map(printableLine).join(', ');
}

type Done = Exclude<ReloadOutcome, { problems: unknown }>;

/** A file that is saved is read by itself, often before anybody can ask for it. */
function describeEarlier({ cause, secondsAgo, routes }: NonNullable<Done['earlier']>): string {
  const what = changes
    .filter((change) => routes[change].length > 0)
    .map((change) => `${change} ${listed(routes[change])}`);
  return `read ${secondsAgo.toFixed(1)} s ago already (${printableLine(cause)}): ${what.join('; ')}`;
}

/** Says what a reload changed, a line each. */
export function describeReload({ routes, needRestart, earlier }: Done): string {
  const lines = ([...changes, 'kept'] as const)
    .filter((what) => routes[what].length > 0)
    .map((what) => `${what}: ${listed(routes[what])}`);
  const later = needRestart.length > 0 ? [`after a restart: ${needRestart.join(', ')}`] : [];
  const before = earlier ? [describeEarlier(earlier)] : [];
  return [...(lines.length > 0 ? lines : ['There are no routes.']), ...later, ...before].join('\n');
}
