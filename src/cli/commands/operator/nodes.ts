import type { Command } from 'commander';
import type { ListedNode } from '../../../storage/nodes.ts';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../../output.ts';
import { type InstallationOptions, isoTime, operatorCommand, withAdministration } from './installation.ts';

interface NodesOptions extends InstallationOptions {
  json?: boolean;
}

const heading = ['ID', 'ADDRESS', 'VERSION', 'STARTED', 'STATE', 'SETTINGS', 'SESSIONS'];

function row({
  id,
  address,
  version,
  startedAt,
  isAlive,
  settingsHash,
  refusesFile,
  sessions,
}: ListedNode): string[] {
  const settings = settingsHash === '' ? '-' : settingsHash;
  return [
    id,
    printableLine(address),
    printableLine(version),
    isoTime(startedAt),
    isAlive ? 'alive' : 'not alive',
    refusesFile ? `${settings} (refused its config file)` : settings,
    String(sessions),
  ];
}

/** Lists what an operator should do about the nodes that are alive. */
export function adviseOnNodes(nodes: readonly ListedNode[]): string[] {
  const alive = nodes.filter(({ isAlive }) => isAlive);
  const hashes = new Set(alive.map(({ settingsHash }) => settingsHash));
  const refusing = alive.filter(({ refusesFile }) => refusesFile);
  return [
    ...(hashes.size > 1
      ? [
          'The nodes run with different settings. Give all the same config file, and run gatehouse reload; settings besides routes need a restart.',
        ]
      : []),
    ...refusing.map(
      ({ address }) =>
        `The node at ${printableLine(address)} could not use its config file at the last reload, and runs with earlier settings. Its log says why.`,
    ),
  ];
}

/** Registers `gatehouse nodes`. */
export function registerNodes(program: Command, io: CommandIo = processIo()): void {
  operatorCommand(
    program,
    'nodes',
    'list the nodes of the installation that have cluster.port, with their settings and sessions',
  ).action(async (options: NodesOptions) => {
    const nodes = await withAdministration(options, false, ({ nodes: all }) => all.list());
    const advice = adviseOnNodes(nodes);
    if (options.json) io.stdout.write(formatJson({ nodes, warnings: advice }));
    else if (nodes.length === 0) io.stdout.write('No node with cluster.port has run within the last day.\n');
    else io.stdout.write(formatTable([heading, ...nodes.map(row)]));
    for (const sentence of advice) io.stderr.write(`${sentence}\n`);
  });
}
