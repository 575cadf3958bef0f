import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { renderHome } from '../../../src/authorization-server/views/home.ts';

describe('the page at the public URL', () => {
  it('shows the MCP URL as it is, and the name as text (T-059)', () => {
    const html = renderHome(en, {
      name: 'mcp.example.com',
      servers: [{ name: '<b>Notes</b>', mcpUrl: 'https://mcp.example.com/mcp' }],
      accountUrl: 'https://mcp.example.com/account',
    });
    expect(html).toContain('https://mcp.example.com/mcp');
    expect(html).toContain('&lt;b&gt;Notes&lt;/b&gt;');
    expect(html).not.toContain('<script');
  });

  it('lists all servers where there are several, each by its name and URL', () => {
    const servers = ['notes', 'files'].map((name) => ({
      name,
      mcpUrl: `https://mcp.example.com/${name}/mcp`,
    }));
    const html = renderHome(en, {
      name: 'mcp.example.com',
      servers,
      accountUrl: 'https://mcp.example.com/account',
    });
    expect(html).toContain('These are MCP servers');
    for (const { name, mcpUrl } of servers)
      expect(html).toContain(
        `<dt><bdi class="name">${name}</bdi></dt>\n<dd><span class="detail">${mcpUrl}</span></dd>`,
      );
  });

  it('leads people to their account', () => {
    const html = renderHome(en, {
      name: 'mcp.example.com',
      servers: [{ name: 'Notes', mcpUrl: 'https://mcp.example.com/mcp' }],
      accountUrl: 'https://mcp.example.com/account',
    });
    expect(html).toContain('<a href="https://mcp.example.com/account">Your account');
  });
});
