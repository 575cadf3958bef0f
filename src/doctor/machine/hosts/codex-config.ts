/** Servers of a Codex configuration by name: each `key = value` of their tables whose value is text. */
export type CodexServers = Record<string, Record<string, string | string[] | Record<string, string>>>;

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
