// An MCP server of somebody else, for the places with routes. It says by which of two routes it was reached: its argument.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const [, , route = ''] = process.argv;

serveStdio(() => {
  const server = new McpServer({ name: `notes of ${route}`, version: '1' });
  server.registerTool(
    'add_note',
    { description: 'Adds a note.', inputSchema: z.object({ text: z.string() }) },
    ({ text }) => ({ content: [{ type: 'text', text: `${route}: ${text}` }] }),
  );
  return server;
});
