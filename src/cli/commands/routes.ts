import type { Command } from 'commander';
import type { Gatehouse } from '../../index.ts';
import { askServer } from '../control/ask-server.ts';
import { findDataFolder, type InstallationOptions } from '../open-administration.ts';
import { isoTime, operatorCommand } from '../operator-command.ts';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../output.ts';

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

/** Registers `gatehouse routes`. @param io its surroundings; those of the process by default */
export function registerRoutes(program: Command, io: CommandIo = processIo()): void {
  operatorCommand(
    program,
    'routes',
    'show how the routes of the running server stand: processes, sessions, failures',
  ).action(async (options: RoutesOptions) => {
    const asked = await askServer(findDataFolder(options), { method: 'GET', path: '/routes' });
    const routes = asked as Status[];
    io.stdout.write(options.json ? formatJson(routes) : formatTable([heading, ...routes.flatMap(rows)]));
  });
}
