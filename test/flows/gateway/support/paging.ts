// An MCP server over standard input and output whose lists come in pages of one. Its argument stands in the names.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [, , mark = ''] = process.argv;
const server = new Server({ name: 'paging', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, async ({ params }) => {
  const page = Number(params?.cursor ?? 0);
  const tools = [{ name: `${mark}-${page}`, inputSchema: { type: 'object' as const } }];
  return { tools, ...(page < 2 && { nextCursor: String(page + 1) }) };
});
await server.connect(new StdioServerTransport());
