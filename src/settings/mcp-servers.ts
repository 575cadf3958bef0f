import { z } from 'zod';
import { remoteBackendSettings } from './backends/remote.ts';
import { stdioBackendSettings } from './backends/stdio.ts';
import type { RoutesInput } from './routes.ts';

const { command, args } = stdioBackendSettings.shape;
const { url, headers } = remoteBackendSettings.shape;

/** Names of the transports in host configurations. */
const transports = {
  http: 'http',
  'streamable-http': 'http',
  streamableHttp: 'http',
  sse: 'sse',
} as const;

/** Values that only hosts use, for approvals and display. */
const forHosts = z.unknown().optional().describe('for hosts; ignored here');

const hostServer = z.strictObject({
  command: command.optional().describe('the program'),
  args: args.describe('its arguments'),
  env: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'must be the name of a variable' }),
      z.string(),
    )
    .default({})
    .describe('its environment variables; their values are secrets, and no variables in them are expanded'),
  url: url.optional().describe('or the URL of the MCP server'),
  headers: headers.describe('headers of every request to it; their values are secrets'),
  type: z
    .enum(['stdio', 'http', 'streamable-http', 'streamableHttp', 'sse'])
    .optional()
    .describe('its transport; default: detected automatically'),
  disabled: z.boolean().default(false).describe('true to skip this server'),
  autoApprove: forHosts,
  alwaysAllow: forHosts,
  description: forHosts,
  gallery: forHosts,
  timeout: forHosts,
  trust: forHosts,
  version: forHosts,
});

/** Setting: MCP servers in the format of desktop hosts. */
export const mcpServerSettings = z
  .record(z.string(), hostServer)
  .default({})
  .describe('MCP servers in the format of desktop hosts: each becomes one of routes.');

/** MCP servers of a host after parsing. */
export type McpServersSettings = z.output<typeof mcpServerSettings>;

const maxNameLength = 32;

/** Derives a route name from the name of a server in a host: `My Files` becomes `my-files`. */
function routeNameOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxNameLength)
    .replace(/^-|-$/g, '');
}

function backendOf(server: McpServersSettings[string]): RoutesInput[string]['backend'] | string {
  const { type, command: program, url: address } = server;
  if ((program === undefined) === (address === undefined))
    return 'needs command, a program, or url: one of them';
  if (program !== undefined) {
    if (type !== undefined && type !== 'stdio') return `type: ${type} is for a server with a url`;
    return { command: program, args: server.args, env: server.env };
  }
  if (type === 'stdio') return 'type: stdio is for a server with a command';
  return {
    url: address ?? '',
    headers: server.headers,
    transport: type === undefined ? 'auto' : transports[type],
  };
}

/**
 * Converts MCP servers from the format of desktop hosts to routes.
 * @param taken names of existing routes
 * @returns the routes before parsing, and a sentence for each problem
 */
export function readMcpServers(
  servers: McpServersSettings,
  taken: readonly string[],
): { routes: RoutesInput; problems: string[] } {
  const problems: string[] = [];
  const routes: RoutesInput = {};
  for (const [name, server] of Object.entries(servers)) {
    if (server.disabled) continue;
    const place = `mcpServers.${name}`;
    const key = routeNameOf(name);
    const backend = backendOf(server);
    if (key === '') problems.push(`${place}: its name needs letters or digits of ASCII, for its path`);
    else if (taken.includes(key) || Object.hasOwn(routes, key))
      problems.push(`${place}: its route would be ${key}, which is there already; rename one`);
    else if (typeof backend === 'string') problems.push(`${place}: ${backend}`);
    else routes[key] = { name, backend };
  }
  return { routes, problems };
}
