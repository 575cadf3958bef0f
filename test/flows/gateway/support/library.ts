// An MCP server over standard input and output with something of every kind that has a name: tools, a prompt, a resource, a
// template and completions. Its argument is whose library it is.
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const [, , mark = ''] = process.argv;
const server = new McpServer(
  { name: 'library', version: '1' },
  { capabilities: { logging: {}, resources: { subscribe: true } }, instructions: `The library of ${mark}.` },
);
const uri = 'book:///first';
const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] });

server.registerTool('whose', {}, async () => text({ mark, pid: process.pid }));
server.registerTool('find', {}, async () => ({
  content: [
    { type: 'resource_link', uri, name: 'first' },
    { type: 'resource', resource: { uri, text: mark } },
  ],
}));
server.registerTool('ask', {}, async () =>
  text(
    await server.server.elicitInput({
      message: `${mark} asks`,
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    }),
  ),
);
server.registerTool('steps', {}, async ({ _meta, sendNotification }) => {
  const progressToken = _meta?.progressToken ?? 0;
  for (const progress of [1, 2])
    await sendNotification({ method: 'notifications/progress', params: { progressToken, progress } });
  return text('done');
});
server.registerTool('write', {}, async () => {
  await server.server.sendResourceUpdated({ uri });
  await server.server.sendLoggingMessage({ level: 'warning', data: `written by ${mark}` });
  return text('written');
});
server.registerTool('wait', {}, async ({ signal }) => {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  process.stderr.write('the wait was cancelled\n');
  return text('over');
});
server.registerTool('crash', {}, async () => process.exit(7));
server.registerPrompt('praise', { argsSchema: { who: z.string() } }, ({ who }) => ({
  messages: [
    { role: 'user', content: { type: 'text', text: `${mark} praises ${who}` } },
    { role: 'user', content: { type: 'resource', resource: { uri, text: mark } } },
  ],
}));
server.registerResource('first', uri, {}, async () => ({ contents: [{ uri, text: mark }] }));
server.registerResource(
  'book',
  new ResourceTemplate('book:///{title}', {
    list: undefined,
    complete: { title: (begun) => [`${begun} of ${mark}`] },
  }),
  {},
  async ({ href }) => ({ contents: [{ uri: href, text: `${href} of ${mark}` }] }),
);
server.server.setRequestHandler(SubscribeRequestSchema, async () => ({}));
server.server.setRequestHandler(UnsubscribeRequestSchema, async () => ({}));

await server.connect(new StdioServerTransport());
