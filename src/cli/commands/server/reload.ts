import type { Command } from 'commander';
import type { OtherReload, ReloadOutcome } from '../../../index.ts';
import { SettingsRefused } from '../../../settings/issues.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type Answers, askServers, failureOfSome } from '../../control/ask-servers.ts';
import { type CommandIo, formatJson, printableLine, processIo } from '../../output.ts';
import { findDataFolder, type InstallationOptions, operatorCommand } from '../operator/installation.ts';

interface ReloadCommandOptions extends InstallationOptions {
  json?: boolean;
}

const nodesHint = 'Check with gatehouse nodes which nodes are alive, and reload again.';

const hint = 'Correct the config file, and reload again; gatehouse check-config checks it first.';

type Refused = Extract<ReloadOutcome, { problems: unknown }>;

function isRefused(outcome: ReloadOutcome): outcome is Refused {
  return 'problems' in outcome;
}

function refusal({ problems }: Refused, where: string): string {
  return `Nothing has changed${where}: the settings cannot be used.\n${problems.map((problem) => `- ${problem}`).join('\n')}`;
}

/** The response of a server: its own outcome, and those of other nodes; null if it could not list them. */
type Reloaded = ReloadOutcome & { nodes?: OtherReload[] | null };

const outcomeTexts: Record<OtherReload['outcome'], string> = {
  reloaded: 'reloaded',
  refused: 'nothing has changed: it cannot use its config file, its log says why',
  'no answer': 'no answer within 5 s; gatehouse nodes shows its state',
};

/** Describes the outcomes of other nodes, one line each. */
export function describeNodes(nodes: readonly OtherReload[]): string[] {
  return nodes.map(({ address, outcome }) => `node ${printableLine(address)}: ${outcomeTexts[outcome]}`);
}

/** Finds the data folder. If the config file does not name it, returns the problems of the file: no server can use it either. */
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

/** Prints the result of each server and node. @throws CliError if a server or node rejected its file, or did not respond */
function report(answers: Answers, json: boolean | undefined, io: CommandIo): void {
  const servers = answers.answered.map(({ pid, body }) => ({ pid, outcome: body as Reloaded }));
  const isAlone = servers.length + answers.failed.length === 1;
  if (json) {
    const each = servers.map(({ pid, outcome }) => ({ pid, ...outcome }));
    const failures = answers.failed.map(({ pid, failure }) => ({ pid, failure: failure.message }));
    io.stdout.write(formatJson(isAlone ? servers[0]?.outcome : { servers: [...each, ...failures] }));
  }
  const refusals: string[] = [];
  const others = servers.flatMap(({ outcome }) => outcome.nodes ?? []);
  for (const { pid, outcome } of servers)
    if (isRefused(outcome)) refusals.push(refusal(outcome, isAlone ? '' : ` in process ${pid}`));
    else if (!json) io.stdout.write(`${isAlone ? '' : `Process ${pid}:\n`}${describeReload(outcome)}\n`);
  if (!json) for (const line of describeNodes(others)) io.stdout.write(`${line}\n`);
  if (others.some(({ outcome }) => outcome === 'refused'))
    refusals.push('Another node could not use its config file, and goes on with its earlier settings.');
  const unreached = others
    .filter(({ outcome }) => outcome === 'no answer')
    .map(
      ({ address }) => `The node at ${printableLine(address)} did not respond, and may keep its settings.`,
    );
  if (servers.some(({ outcome }) => outcome.nodes === null))
    unreached.push('The other nodes were not told to reload: the database did not list them.');
  const failure = failureOfSome(answers);
  const message = [...refusals, ...unreached, ...(failure ? [failure.message] : [])].join('\n');
  if (refusals.length > 0) throw new CliError(message, exitCodes.usage, hint);
  if (unreached.length > 0) throw new CliError(message, exitCodes.unreachable, nodesHint);
  if (failure) throw failure;
}

/** Registers `gatehouse reload`. */
export function registerReload(program: Command, io: CommandIo = processIo()): void {
  operatorCommand(
    program,
    'reload',
    'make running servers read their config file again: routes change at once, other settings at the next start',
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

/** A saved file is reloaded automatically, often before anybody runs `reload`. */
function describeEarlier({ cause, secondsAgo, routes }: NonNullable<Done['earlier']>): string {
  const what = changes
    .filter((change) => routes[change].length > 0)
    .map((change) => `${change} ${listed(routes[change])}`);
  return `already reloaded ${secondsAgo.toFixed(1)} s ago (${printableLine(cause)}): ${what.join('; ')}`;
}

/** Describes the changes of a reload, one line each. */
export function describeReload({ routes, needRestart, earlier }: Done): string {
  const lines = ([...changes, 'kept'] as const)
    .filter((what) => routes[what].length > 0)
    .map((what) => `${what}: ${listed(routes[what])}`);
  const later = needRestart.length > 0 ? [`needs a restart: ${needRestart.join(', ')}`] : [];
  const before = earlier ? [describeEarlier(earlier)] : [];
  return [...(lines.length > 0 ? lines : ['There are no routes.']), ...later, ...before].join('\n');
}
