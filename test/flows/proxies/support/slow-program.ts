// An MCP server over standard input and output, with SDK v1, that takes its time.
import { setTimeout as pause } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'slow', version: '1' });
const inputSchema = { ms: z.number() };
const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });

server.registerTool('wait', { inputSchema }, async ({ ms }) => {
  await pause(ms);
  return text(`waited ${ms} ms`);
});
/** Has one more tool some time after the call is over, and says so. */
server.registerTool('grow', { inputSchema }, async ({ ms }) => {
  setTimeout(() => server.registerTool('grown', {}, async () => text('grown')), ms);
  return text('soon');
});
await server.connect(new StdioServerTransport());
