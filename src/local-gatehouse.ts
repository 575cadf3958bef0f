import type { Readable, Writable } from 'node:stream';
import { paths } from './app/paths.ts';
import { createLocalEndpoint, type StdioEndpoint } from './mcp/stdio/endpoint.ts';
import { notesServer } from './notes-server.ts';
import { createLogger, type Logger } from './observability/logger.ts';
import { parseSettings, type SettingsInput } from './options.ts';
import { type OwnServer, readOwnServer } from './protected-server.ts';
import { SettingsRefused } from './settings/issues.ts';
import type { Storage } from './storage/storage.ts';

/** Options of `createLocalGatehouse`: settings of the config file, and the parts that only code can provide. */
export interface LocalGatehouseOptions extends Omit<SettingsInput, 'storage'> {
  storage: Storage;
  /** Id of the account that the host acts for. */
  accountId: string;
  /** E-mail address of the account, for tools. Default: tools do not learn it. */
  accountEmail?: string;
  /** The MCP server, as for `createGatehouse`. Default: a server of notes. */
  server?: OwnServer;
  /** Input from the host. Default: standard input of the process. */
  stdin?: Readable;
  /** Output to the host. Default: standard output of the process. */
  stdout?: Writable;
  /** Default: JSON lines on standard error. */
  logger?: Logger;
}

/** Issuer of an installation without a public URL. */
const localUrl = 'http://localhost:3000';

/**
 * Serves the MCP server of an installation to a host on the same machine, over standard input and output, for one of
 * its accounts.
 * @returns `ended` resolves when the host is gone and everything has ended; `close` ends it before
 * @throws SettingsRefused naming every problem; also if there are routes but no `server`, because routes are not served
 * @see MCP transports "stdio"
 */
export function createLocalGatehouse(options: LocalGatehouseOptions): StdioEndpoint {
  const { storage, accountId, accountEmail, server, stdin, stdout, logger, ...input } = options;
  const { publicUrl: issuer = localUrl, log, routes } = parseSettings(input);
  if (server === undefined && Object.keys(routes).length > 0)
    throw new SettingsRefused([
      'routes: a local host can use only the server given as server; it reaches routes through a running server (gatehouse connect)',
    ]);
  const now = (): number => Math.floor(Date.now() / 1000);
  const { source, scopes, methods } = readOwnServer(server ?? notesServer(storage, now), issuer);
  return createLocalEndpoint({
    source,
    ...(methods && { methods }),
    account: { id: accountId, email: accountEmail, scopes: Object.keys(scopes) },
    issuer,
    resource: `${issuer}${paths.mcp}`,
    stdin: stdin ?? process.stdin,
    stdout: stdout ?? process.stdout,
    logger: logger ?? createLogger(log.level),
  });
}
