import { readFile, stat } from 'node:fs/promises';
import { isObject } from '../../../oauth/foreign-json.ts';
import type { Machine } from '../machine.ts';
import { readCodexServers } from './codex-config.ts';
import type { HostEntry, HostFile } from './host-entry.ts';
import { type HostPlace, hostPlaces } from './host-places.ts';
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
