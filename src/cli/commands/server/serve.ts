import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { createAdministration } from '../../../authorization-server/administration/administration.ts';
import { loadSettings } from '../../../config/load.ts';
import { createGatehouse } from '../../../index.ts';
import { createLogger, type Logger } from '../../../observability/logger.ts';
import { packageVersion } from '../../../package-files.ts';
import { adviseOnFolder } from '../../../storage/sqlite/index.ts';
import { StorageUnreachable } from '../../../storage/storage.ts';
import { schedulingPolicy, useBatchScheduling } from '../../batch-scheduling.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { takeControls } from '../../control/take-controls.ts';
import { parsePort } from '../../option-parsers.ts';
import { type CommandIo, formatJson, printableLine, processIo } from '../../output.ts';
import {
  type Installation,
  type InstallationPlace,
  isOnPostgres,
  openInstallation,
} from '../operator/installation.ts';
import { createFirstAccount, formatWelcome } from './welcome.ts';

interface ServeOptions {
  port?: number;
  data?: string;
  config?: string;
  publicUrl?: string;
  json?: boolean;
}

/** Maximum number of pending connections: after a restart all clients reconnect at once. */
const backlog = 4096;

/** Maximum time of MCP calls after SIGTERM, in milliseconds; then they end with an error. */
const callPatienceMs = 8000;

/** Maximum time of connections after SIGTERM, in milliseconds: less than the 10 s after which container runtimes kill. */
const stopPatienceMs = 9000;

/** Problems of a port, by Node's error code. */
const portFaults: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use',
  EACCES: 'needs more rights than this user has',
};

/** @param advice hints for a port or address that cannot be used */
function listen(
  server: Server,
  { port, host }: { port: number; host: string },
  advice: { port: string; address: string },
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const portFault = error.code === undefined ? undefined : portFaults[error.code];
      reject(
        portFault
          ? new CliError(`Port ${port} ${portFault}.`, exitCodes.cannotServe, advice.port, 'port_unusable')
          : new CliError(
              `The server cannot listen on ${host}:${port} (${error.code}).`,
              exitCodes.cannotServe,
              advice.address,
              'address_unusable',
            ),
      );
    });
    server.listen({ port, host, backlog }, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Listens on the metrics port, if one is set. */
async function listenForMetrics(
  server: Server,
  { port, host }: ReturnType<typeof loadSettings>['metrics'],
): Promise<number | undefined> {
  if (port === undefined) return undefined;
  return listen(
    server,
    { port, host },
    {
      port: 'Set metrics.port in the config file to another one.',
      address: 'Set metrics.host in the config file to an address of this machine.',
    },
  );
}

/** Answers 503 while the installation is opened: the port is opened first, so that a second server fails at once. */
function answerStarting(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '1' });
  response.end('{"error":"temporarily_unavailable","error_description":"The server is starting."}');
}

/** Resolves at the first SIGTERM or SIGINT. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
}

/** Pause until a database server that cannot be reached is tried again, in milliseconds. */
const reachAgainMs = 1000;

/**
 * Opens the installation, once its database server can be reached: after a restart of the machine it may come later.
 * @returns undefined if the server was told to stop before the installation was open
 */
async function openUnlessStopped(
  place: InstallationPlace,
  stopped: Promise<void>,
  { io, logger }: { io: CommandIo; logger: Logger },
): Promise<Installation | undefined> {
  const stop = new AbortController();
  const { signal } = stop;
  void stopped.then(() => stop.abort());
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      return await openInstallation(place, io, {
        signal,
        onOtherServer: (sentence) => logger.warn(sentence),
      });
    } catch (error) {
      if ((error as Error).name === 'AbortError') return undefined;
      if (!(error instanceof StorageUnreachable)) throw error;
      if (isFirst) logger.warn(`${error.message} Trying again until it can be reached.`);
    }
    await pause(reachAgainMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

/** Accepts no new connections, lets running requests end, and then closes the remaining connections (T-181). */
async function drain(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const idle = setInterval(() => server.closeIdleConnections(), 100);
  const cut = setTimeout(() => server.closeAllConnections(), stopPatienceMs);
  await closed;
  clearInterval(idle);
  clearTimeout(cut);
}

/** Options of {@link runServer}. */
export interface RunOptions {
  io: CommandIo;
  /** Prints the URLs of the server as JSON. */
  json?: boolean | undefined;
  /** Its config file and what else holds settings; they are read again when one changes. */
  files: readonly string[];
  /** Reads the settings again. */
  load: () => ReturnType<typeof loadSettings>;
  /** Default: JSON lines on standard error. */
  logger?: Logger;
}

/**
 * Runs a server until SIGTERM or SIGINT.
 * @throws CliError if its port or address cannot be used
 */
export async function runServer(
  settings: ReturnType<typeof loadSettings>,
  { io, json, files, load, logger = createLogger(settings.log.level) }: RunOptions,
): Promise<void> {
  const stopped = stopSignal();
  const scheduled = settings.scheduling === 'batch' ? useBatchScheduling() : undefined;
  const server = createServer(answerStarting);
  const port = await listen(server, settings.listen, {
    port: 'Choose another one with --port.',
    address: 'Set listen.host in the config file to an address of this machine.',
  });
  const metricsServer = createServer();
  try {
    const metricsPort = await listenForMetrics(metricsServer, settings.metrics);
    const installation = await openUnlessStopped(settings, stopped, { io, logger });
    if (!installation) return;
    if (!isOnPostgres(settings))
      for (const warning of adviseOnFolder(settings.data))
        io.stderr.write(`Warning: ${printableLine(warning)}\n`);
    try {
      const publicUrl = settings.publicUrl ?? `http://localhost:${port}`;
      // Before programs are started, which inherit it.
      await scheduled;
      const gatehouse = await createGatehouse({
        ...settings,
        publicUrl,
        ...installation,
        logger,
      });
      const version = packageVersion();
      // Last of what can fail: a generated password is kept nowhere, so whoever makes one must get to print it.
      const firstAccount = await createFirstAccount(createAdministration(installation), io.env);
      server.off('request', answerStarting);
      gatehouse.attach(server);
      metricsServer.on('request', gatehouse.serveMetrics);
      const facts = {
        publicUrl: gatehouse.issuer,
        mcpUrl: gatehouse.mcpUrl,
        servers: gatehouse.servers,
        port,
        ...(metricsPort === undefined ? undefined : { metricsPort }),
        dataFolder: settings.data,
      };
      io.stdout.write(
        json
          ? formatJson({ ...facts, firstAccount })
          : formatWelcome({
              version,
              ...facts,
              // Without the config file a command would look for SQLite in the folder.
              placeOption: isOnPostgres(settings) ? `--config ${files[0]}` : `--data ${settings.data}`,
              firstAccount,
              hasNotes: Object.keys(settings.routes).length === 0,
            }),
      );
      logger.info(
        { version, node: process.version, ...facts, scheduling: schedulingPolicy() },
        'the server has started',
      );
      const stopControls = await takeControls({
        dataFolder: settings.data,
        files,
        load: () => ({ publicUrl, ...load() }),
        gatehouse,
        warn: (sentence) => void io.stderr.write(`${sentence}\n`),
      });
      await stopped;
      stopControls();
      const drained = drain(server);
      await gatehouse.close(callPatienceMs);
      await drained;
    } finally {
      await installation.storage.close();
    }
  } finally {
    metricsServer.close();
    metricsServer.closeAllConnections();
    server.close();
  }
}

async function serve(options: ServeOptions, io: CommandIo): Promise<void> {
  const load = () => loadSettings(options.config, options);
  await runServer(load(), {
    io,
    json: options.json,
    files: options.config === undefined ? [] : [options.config],
    load,
  });
}

/** Registers `gatehouse serve`. */
export function registerServe(program: Command, io: CommandIo = processIo()): void {
  program
    .command('serve')
    .description('start the server: authorization server and protected MCP endpoint in one')
    .addOption(
      new Option('--port <port>', 'port to listen on (default: 3000)')
        .argParser(parsePort)
        .env('GATEHOUSE_PORT'),
    )
    .addOption(
      new Option('--data <folder>', 'folder of the database and the key file (default: ./data)').env(
        'GATEHOUSE_DATA',
      ),
    )
    .addOption(
      new Option('--config <file>', 'config file; config/options.md lists its settings').env(
        'GATEHOUSE_CONFIG',
      ),
    )
    .addOption(
      new Option(
        '--public-url <url>',
        'URL at which clients reach this server (default: http://localhost:<port>)',
      ).env('GATEHOUSE_PUBLIC_URL'),
    )
    .option('--json', 'print the URLs of the server as JSON')
    .action((options: ServeOptions) => serve(options, io));
}
