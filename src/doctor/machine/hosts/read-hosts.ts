import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '../../../oauth/foreign-json.ts';
import type { Machine } from '../machine.ts';
import { parseJsonWithComments } from './json-with-comments.ts';

/** Members under which hosts keep their servers. */
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

/** The servers of a document; those of a project stand in Claude Code's file under the folder's path. */
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
 * Reads the configuration of every known host there is on a machine.
 * @param machine the machine
 * @returns the files that exist
 */
export async function readHosts(machine: Machine): Promise<HostFile[]> {
  const files = await Promise.all(hostPlaces(machine).map((place) => readHost(place, machine)));
  return files.filter((file) => file !== undefined);
}

/** A server as the configuration of a host names it. Values may be secrets: none is ever shown. */
export interface HostEntry {
  /** `Claude Desktop`. */
  host: string;
  file: string;
  /** The name the user gave it. */
  name: string;
  /** Of the server, or the one a bridge such as mcp-remote is given. */
  url?: string;
  headers: Readonly<Record<string, string>>;
  args: readonly string[];
}

/** A configuration file, and what it came to. */
export interface HostFile {
  host: string;
  file: string;
  entries: readonly HostEntry[];
  /** Reason why it could not be read; a host then has no servers at all. */
  fault?: string;
  /** Permission bits of the file. */
  mode: number;
}

/** Servers of a Codex configuration by name: each `key = value` of their tables whose value is text. */
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
 * Reads the `mcp_servers` tables of a Codex `config.toml`: one entry a line, as `codex mcp add` writes them. It is no
 * reader of TOML: what spans lines is not seen.
 * @param file the text of the file
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

/** Location of a host's server list. */
interface HostPlace {
  host: string;
  file: string;
}

/** The folder in which programs with a window keep their settings. */
function settingsFolder({ platform, env, home }: Machine): string {
  if (platform === 'darwin') return join(home, 'Library/Application Support');
  if (platform === 'win32') return env.APPDATA || join(home, 'AppData/Roaming');
  return env.XDG_CONFIG_HOME || join(home, '.config');
}

/**
 * The files in which known hosts look for MCP servers: the user's own, then those of the working folder.
 * @param machine the machine
 */
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
