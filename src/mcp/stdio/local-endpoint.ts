import type { Readable, Writable } from 'node:stream';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import { createServedMethods, type OpenMethods } from '../reading/methods.ts';
import { createConversations } from '../sdk/conversations.ts';
import { guardConversations } from '../sdk/guarded.ts';
import type { ServerSource } from '../sdk/server-source.ts';
import { createStdioEndpoint, type StdioEndpoint } from './endpoint.ts';

/** Options for serving a local host. */
export interface LocalEndpointOptions {
  source: ServerSource;
  /** The account the host acts for, with every scope the server has: who can start this process owns its data. */
  account: { id: string; scopes: readonly string[] };
  /** Methods that the server's code opened; none by default. */
  methods?: OpenMethods;
  /** Issuer of the accounts. */
  issuer: string;
  /** URL of the MCP endpoint whose server this is. */
  resource: string;
  stdin: Readable;
  stdout: Writable;
  logger: Logger;
}

/** End of an access that ends with its process: the last second of the year 9999, the latest date that can be written. */
const neverSeconds = 253_402_300_799;

/** The client of every local host. */
const localClientId = 'stdio';

/**
 * Serves an MCP server to a local host over standard input and output. There is no OAuth on it: the host acts for one
 * account, which `callerOf` gives to the tools as over HTTP.
 * @see MCP authorization "Protocol Requirements": stdio takes credentials from the environment
 */
export function createLocalEndpoint(options: LocalEndpointOptions): StdioEndpoint {
  const { source, account, issuer, resource, stdin, stdout, logger } = options;
  const authInfo: AuthInfo = {
    issuer,
    subject: account.id,
    clientId: localClientId,
    scopes: account.scopes,
    audience: resource,
    expiresAt: neverSeconds,
  };
  const served = createServedMethods(options.methods);
  const conversations = guardConversations(createConversations({ source, logger }), served, logger);
  return createStdioEndpoint({ source, conversations, served, stdin, stdout, authInfo, logger });
}
