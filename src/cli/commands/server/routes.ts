import type { Command } from 'commander';
import type { Gatehouse } from '../../../index.ts';
import { askServers, failureOfSome } from '../../control/ask-servers.ts';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../../output.ts';
import {
  findDataFolder,
  type InstallationOptions,
  isoTime,
  operatorCommand,
} from '../operator/installation.ts';

type Status = ReturnType<Gatehouse['routes']>[number];

interface RoutesOptions extends InstallationOptions {
  json?: boolean;
}

const heading = [
  'ROUTE',
  'URL',
  'KIND',
  'STATE',
  'PROCESSES',
  'CONNECTIONS',
  'SESSIONS',
  'CALLS',
  'FAILURES',
];

function count(value: number | undefined): string {
  return value === undefined ? '-' : String(value);
}

function describeFailures({ failures }: Pick<Status, 'failures'>): string {
  if (!failures) return '-';
  const { count: total, last } = failures;
  return last ? `${total}, last ${last.reason} at ${isoTime(last.at)}` : String(total);
}

function row(status: Status): string[] {
  const { route, mcpUrl, kind, state, processes, connections, sessions, calls } = status;
  return [
    printableLine(route),
    mcpUrl,
    kind,
    state,
    count(processes),
    count(connections),
    count(sessions),
    count(calls),
    describeFailures(status),
  ];
}

/** The row of a route, and one for each of several backends behind it. */
function rows(status: Status): string[][] {
  const ofBackends = Object.entries(status.backends ?? {}).map(([key, backend]) => {
    const { kind, state, processes, connections } = backend;
    const own = [`  ${key}`, '', kind, state, count(processes), count(connections), '', ''];
    return [...own, describeFailures(backend)];
  });
  return [row(status), ...ofBackends];
}

interface Asked {
  pid: number;
  routes: Status[];
}

/** The table of the routes; where several servers were asked, with the process of each in front. */
function tableOf(servers: readonly Asked[]): string[][] {
  const ofServer = ({ pid, routes }: Asked) => routes.flatMap(rows).map((cells) => [String(pid), ...cells]);
  const all = [['SERVER', ...heading], ...servers.flatMap(ofServer)];
  return servers.length > 1 ? all : all.map(([, ...cells]) => cells);
}

/** Registers `gatehouse routes`. @param io its surroundings; those of the process by default */
export function registerRoutes(program: Command, io: CommandIo = processIo()): void {
  operatorCommand(
    program,
    'routes',
    'show how the routes of the running servers stand: processes, sessions, failures',
  ).action(async (options: RoutesOptions) => {
    const asked = await askServers(await findDataFolder(options), { method: 'GET', path: '/routes' });
    const servers = asked.answered.map(({ pid, body }) => ({ pid, routes: body as Status[] }));
    io.stdout.write(
      options.json
        ? formatJson(servers.flatMap(({ pid, routes }) => routes.map((route) => ({ ...route, pid }))))
        : formatTable(tableOf(servers)),
    );
    const failure = failureOfSome(asked);
    if (failure) throw failure;
  });
}
