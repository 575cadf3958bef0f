import { displayText } from './display-text.ts';
import { renderLayout } from './layout.ts';
import { markup } from './markup.ts';

/** What the page at the public URL shows. */
export interface HomePage {
  /** The name of the MCP server. */
  name: string;
  mcpUrl: string;
}

/**
 * The page a person finds who opens the public URL: what this server is, and how an app is connected to it.
 * @param page its content; every text is escaped
 * @returns a complete HTML document that needs no script
 */
export function renderHome({ name, mcpUrl }: HomePage): string {
  return renderLayout(
    `${name} – Gatehouse`,
    markup`<h1>This is an MCP server</h1>
<p><bdi class="name">${displayText(name)}</bdi> is for apps that speak the Model Context Protocol. There is nothing to do on this page: your app opens the login when it needs one.</p>
<dl>
<dt>MCP URL</dt>
<dd><span class="detail">${mcpUrl}</span></dd>
<dt>To connect, add the URL to your app as a remote MCP server (Streamable HTTP). In Claude Code:</dt>
<dd><span class="detail">claude mcp add --transport http gatehouse ${mcpUrl}</span></dd>
</dl>`,
  );
}
