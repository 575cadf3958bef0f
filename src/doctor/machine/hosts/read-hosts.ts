import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '../../../oauth/foreign-json.ts';
import type { Machine } from '../machine.ts';
import { parseJsonWithComments } from './json-with-comments.ts';

/** Members that contain the servers of a host. */
const serverMembers = ['mcpServers', 'servers', 'mcp', 'context_servers'];

function strings(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
}

function readEntry({ host, file }: HostPlace, name: string, server: Record<string, unknown>): HostEntry {
  const command = [server.command, server.args].flat();
  const args = command.filter((part): part is string => typeof part === 'string');
  const url = [server.url, server.serverUrl, server.httpUrl].find((value) => typeof value === 'string');
  const bridged = args.find((part) => /^https?:\/\//.test(part));
  const headers = {
    ...strings(server.headers),
    ...strings(server.http_headers),
    ...strings(server.requestInit),
  };
  const target = url ?? bridged;
  return { host, file, name, args, headers, ...(target === undefined ? {} : { url: target }) };
}

/** Returns the servers of a document. Claude Code has those of a project under the path of its folder. */
function serversOf(document: unknown, workingFolder: string): [string, Record<string, unknown>][] {
  if (!isObject(document)) return [];
  const projects = isObject(document.projects) ? document.projects[workingFolder] : undefined;
  return [document, projects]
    .filter(isObject)
    .flatMap((holder) => serverMembers.map((member) => holder[member]))
    .filter(isObject)
    .flatMap((servers) => Object.entries(servers))
    .filter((pair): pair is [string, Record<string, unknown>] => isObject(pair[1]));
}

async function readHost(place: HostPlace, machine: Machine): Promise<HostFile | undefined> {
  const found = await stat(place.file).catch(() => undefined);
  if (found === undefined) return undefined;
  const base = { ...place, mode: found.mode };
  try {
    const text = await readFile(place.file, 'utf8');
    const document = place.file.endsWith('.toml')
      ? { mcpServers: readCodexServers(text) }
      : parseJsonWithComments(text);
    const entries = serversOf(document, machine.workingFolder).map(([name, server]) =>
      readEntry(place, name, server),
    );
    return { ...base, entries };
  } catch (error) {
    // A message of JSON.parse repeats the text around the fault, which may be a secret.
    const why = error instanceof SyntaxError ? 'it is no JSON' : 'it cannot be read';
    return { ...base, entries: [], fault: why };
  }
}

/**
 * Reads the configurations of all known hosts on a machine.
 * @returns the existing files
 */
export async function readHosts(machine: Machine): Promise<HostFile[]> {
  const files = await Promise.all(hostPlaces(machine).map((place) => readHost(place, machine)));
  return files.filter((file) => file !== undefined);
}

/** A server in the configuration of a host. Its values may be secrets, and are never shown. */
export interface HostEntry {
  /** Name of the host: `Claude Desktop`. */
  host: string;
  file: string;
  /** Name that the user gave the server. */
  name: string;
  /** URL of the server, or the URL that a bridge such as mcp-remote gets. */
  url?: string;
  headers: Readonly<Record<string, string>>;
  args: readonly string[];
}

/** A configuration file and its entries. */
export interface HostFile {
  host: string;
  file: string;
  entries: readonly HostEntry[];
  /** Reason why the file could not be read; the host then has no servers. */
  fault?: string;
  /** Permission bits of the file. */
  mode: number;
}

/** Servers of a Codex configuration by name, with the text values of their tables. */
type CodexServers = Record<string, Record<string, string | string[] | Record<string, string>>>;

const header = /^\[\s*mcp_servers\.(?:"([^"]+)"|'([^']+)'|([\w-]+))((?:\.[\w-]+)?)\s*\]/;
const assignment = /^(?:"([^"]+)"|([\w-]+))\s*=\s*(.+)$/;
const text = /"((?:\\.|[^"\\])*)"|'([^']*)'/g;

function texts(value: string): string[] {
  return [...value.matchAll(text)].map(([, double, single]) => single ?? double ?? '');
}

function readValue(value: string): string | string[] | Record<string, string> {
  if (value.startsWith('[')) return texts(value);
  if (!value.startsWith('{')) return texts(value)[0] ?? '';
  const pairs = value.matchAll(/(?:"([^"]+)"|([\w-]+))\s*=\s*"((?:\\.|[^"\\])*)"/g);
  return Object.fromEntries([...pairs].map(([, quoted, bare, held]) => [quoted ?? bare ?? '', held ?? '']));
}

/**
 * Reads the `mcp_servers` tables of a Codex `config.toml`, with one entry a line as `codex mcp add` writes them. This
 * is no TOML parser: values of several lines are ignored.
 */
export function readCodexServers(file: string): CodexServers {
  const servers: CodexServers = {};
  let into: Record<string, string | string[] | Record<string, string>> | undefined;
  for (const line of file.split('\n').map((raw) => raw.trim())) {
    if (line.startsWith('[')) {
      const [, double, single, bare, below] = header.exec(line) ?? [];
      const name = double ?? single ?? bare;
      if (name === undefined) {
        into = undefined;
        continue;
      }
      servers[name] ??= {};
      const server = servers[name];
      const table: Record<string, string> = {};
      if (below) server[below.slice(1)] = table;
      into = below ? table : server;
      continue;
    }
    const [, quoted, bare, value] = assignment.exec(line) ?? [];
    if (into !== undefined && value !== undefined) into[quoted ?? bare ?? ''] = readValue(value);
  }
  return servers;
}

/** Location of a host's list of servers. */
interface HostPlace {
  host: string;
  file: string;
}

/** The folder of the settings of desktop programs. */
function settingsFolder({ platform, env, home }: Machine): string {
  if (platform === 'darwin') return join(home, 'Library/Application Support');
  if (platform === 'win32') return env.APPDATA || join(home, 'AppData/Roaming');
  return env.XDG_CONFIG_HOME || join(home, '.config');
}

/** Returns the files with MCP servers of known hosts: those of the user, then those of the working folder. */
export function hostPlaces(machine: Machine): HostPlace[] {
  const { home, workingFolder, env } = machine;
  const settings = settingsFolder(machine);
  const config = env.XDG_CONFIG_HOME || join(home, '.config');
  return [
    { host: 'Claude Desktop', file: join(settings, 'Claude/claude_desktop_config.json') },
    { host: 'Claude Code', file: join(home, '.claude.json') },
    { host: 'Claude Code', file: join(workingFolder, '.mcp.json') },
    { host: 'Cursor', file: join(home, '.cursor/mcp.json') },
    { host: 'Cursor', file: join(workingFolder, '.cursor/mcp.json') },
    { host: 'VS Code', file: join(settings, 'Code/User/mcp.json') },
    { host: 'VS Code', file: join(workingFolder, '.vscode/mcp.json') },
    { host: 'Windsurf', file: join(home, '.codeium/windsurf/mcp_config.json') },
    { host: 'Gemini CLI', file: join(home, '.gemini/settings.json') },
    { host: 'Gemini CLI', file: join(workingFolder, '.gemini/settings.json') },
    { host: 'Copilot CLI', file: join(env.COPILOT_HOME || join(home, '.copilot'), 'mcp-config.json') },
    { host: 'opencode', file: join(config, 'opencode/opencode.json') },
    { host: 'Codex', file: join(env.CODEX_HOME || join(home, '.codex'), 'config.toml') },
  ];
}
