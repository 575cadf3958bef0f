import { describe, expect, it } from 'vitest';
import { formatWelcome } from '../../../../src/cli/commands/server/welcome.ts';

const facts = {
  version: '1.2.3',
  mcpUrl: 'http://localhost:3000/mcp',
  servers: [{ name: 'Notes', mcpUrl: 'http://localhost:3000/mcp' }],
  publicUrl: 'http://localhost:3000',
  dataFolder: '/srv/data',
  placeOption: '--config /etc/g.json',
  hasNotes: true,
};

describe('the welcome', () => {
  it('says where the server is and how each client connects', () => {
    const text = formatWelcome({ ...facts, firstAccount: undefined });
    expect(text.startsWith('Gatehouse 1.2.3 serves http://localhost:3000\n')).toBe(true);
    expect(text).toContain('claude mcp add --transport http gatehouse http://localhost:3000/mcp');
    expect(text).toContain('{"mcpServers":{"gatehouse":{"url":"http://localhost:3000/mcp"}}}');
    expect(text).toContain('/srv/data');
    expect(text).not.toMatch(/password/i);
  });

  it('shows a call of a tool where the tools are known, else how to list them', () => {
    const text = (hasNotes: boolean): string =>
      formatWelcome({ ...facts, firstAccount: undefined, hasNotes });
    expect(text(true)).toContain('call http://localhost:3000/mcp whoami');
    expect(text(false)).toContain('tools http://localhost:3000/mcp');
    expect(text(false)).not.toContain('whoami');
  });

  it('names every server with its URL where there are several', () => {
    const servers = [...facts.servers, { name: 'Files', mcpUrl: 'http://localhost:3000/files/mcp' }];
    const text = formatWelcome({ ...facts, servers, firstAccount: undefined });
    expect(text).toContain('  MCP URL    http://localhost:3000/mcp   (Notes)\n');
    expect(text).toContain('  MCP URL    http://localhost:3000/files/mcp   (Files)\n');
  });

  it('shows a password only where it was made up here', () => {
    const made = formatWelcome({
      ...facts,
      firstAccount: { email: 'me@x.example', generatedPassword: 'abc-def' },
    });
    expect(made).toMatch(/Account +me@x\.example\n +Password +abc-def {3}\(shown only now/);
    expect(made).toContain('account password me@x.example --config /etc/g.json)');
    const given = formatWelcome({ ...facts, firstAccount: { email: 'me@x.example' } });
    expect(given).toMatch(/Password +as set in GATEHOUSE_ACCOUNT_PASSWORD/);
  });
});
