import { join } from 'node:path';
import type { Machine } from '../machine.ts';

/** Location of a host's server list. */
export interface HostPlace {
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
