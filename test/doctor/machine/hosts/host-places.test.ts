import { describe, expect, it } from 'vitest';
import { hostPlaces } from '../../../../src/doctor/machine/hosts/host-places.ts';
import { testMachine } from '../test-machine.ts';

function filesOn(platform: NodeJS.Platform, env: Record<string, string> = {}): string[] {
  return hostPlaces(testMachine({ platform, home: '/home/a', workingFolder: '/project', env })).map(
    ({ file }) => file,
  );
}

describe('places of host configurations', () => {
  it('stand where each platform keeps settings', () => {
    expect(filesOn('linux')).toContain('/home/a/.config/Claude/claude_desktop_config.json');
    expect(filesOn('darwin')).toContain(
      '/home/a/Library/Application Support/Claude/claude_desktop_config.json',
    );
    expect(filesOn('win32', { APPDATA: '/roaming' })).toContain('/roaming/Claude/claude_desktop_config.json');
  });

  it('include those of the working folder, and follow variables', () => {
    expect(filesOn('linux')).toEqual(
      expect.arrayContaining([
        '/project/.vscode/mcp.json',
        '/project/.cursor/mcp.json',
        '/project/.mcp.json',
      ]),
    );
    expect(filesOn('linux', { CODEX_HOME: '/codex', XDG_CONFIG_HOME: '/xdg' })).toEqual(
      expect.arrayContaining(['/codex/config.toml', '/xdg/opencode/opencode.json']),
    );
  });
});
