import type { Readable, Writable } from 'node:stream';
import { paths } from './app/paths.ts';
import type { StdioEndpoint } from './mcp/stdio/endpoint.ts';
import { createLocalEndpoint } from './mcp/stdio/local-endpoint.ts';
import { notesServer } from './notes-server.ts';
import { createLogger, type Logger } from './observability/logger.ts';
import { parseSettings, type SettingsInput } from './options.ts';
import { type OwnServer, readOwnServer } from './protected-server.ts';
import { SettingsRefused } from './settings/issues.ts';
import type { Storage } from './storage/storage.ts';

/** What `createLocalGatehouse` takes: settings of the config file, and what only code can give. */
export interface LocalGatehouseOptions extends SettingsInput {
  storage: Storage;
  /** Id of the account the host acts for. */
  accountId: string;
  /** The MCP server, as `createGatehouse` takes it; a server of notes where none is given. */
  server?: OwnServer;
  /** Where the host writes; standard input of the process by default. */
  stdin?: Readable;
  /** Where the host reads; standard output of the process by default. */
  stdout?: Writable;
  /** Takes the log; JSON lines on standard error by default. */
  logger?: Logger;
}

/** Where the accounts of an installation without a public URL belong. */
const localUrl = 'http://localhost:3000';

/**
 * Serves the MCP server of an installation to a host on the same machine, over standard input and output, for one of
 * its accounts.
 * @returns `ended` resolves when the host is gone and everything has ended; `close` ends it before
 * @throws SettingsRefused naming every problem; so are routes where no server is given, as they are not served
 * @see MCP transports "stdio"
 */
export function createLocalGatehouse(options: LocalGatehouseOptions): StdioEndpoint {
  const { storage, accountId, server, stdin, stdout, logger, ...input } = options;
  const { publicUrl: issuer = localUrl, log, routes } = parseSettings(input);
  if (server === undefined && Object.keys(routes).length > 0)
    throw new SettingsRefused([
      'routes: a local host gets a server of code alone; it reaches those of routes through the server that serves them (gatehouse connect)',
    ]);
  const now = (): number => Math.floor(Date.now() / 1000);
  const { source, scopes, methods } = readOwnServer(server ?? notesServer(storage, now), issuer);
  return createLocalEndpoint({
    source,
    ...(methods && { methods }),
    account: { id: accountId, scopes: Object.keys(scopes) },
    issuer,
    resource: `${issuer}${paths.mcp}`,
    stdin: stdin ?? process.stdin,
    stdout: stdout ?? process.stdout,
    logger: logger ?? createLogger(log.level),
  });
}
