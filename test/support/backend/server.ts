// An MCP server over standard input and output, as somebody else would have written it, with SDK v1. Its first argument
// is how it behaves at its start: "sound", "mute" (never answers), "deaf" (reads no
// more than initialize), "ending" (ends at once).
import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const [, , start = 'sound'] = process.argv;
if (start === 'ending') {
  process.stderr.write('there is no configuration\n');
  process.exit(3);
}
if (start === 'deaf') {
  // It reads initialize, and nothing after it.
  process.stdin.once('data', (data) => {
    const { id } = JSON.parse(String(data)) as { id: unknown };
    process.stdin.pause();
    const result = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: { name: 'deaf', version: '1' },
    };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
  });
  await new Promise((resolve) => setTimeout(resolve, 600_000));
}
if (start === 'mute') await new Promise((resolve) => setTimeout(resolve, 600_000));

const server = new McpServer({ name: 'somebody-elses', version: '1' }, { capabilities: { logging: {} } });
const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] });

server.registerTool(
  'echo',
  { inputSchema: { text: z.string(), delayMs: z.number().optional() } },
  async ({ text: said, delayMs = 0 }) => {
    await pause(delayMs);
    return text({ said, pid: process.pid });
  },
);
server.registerTool('surroundings', {}, async ({ _meta }) =>
  text({ env: process.env, args: process.argv.slice(2), meta: _meta ?? {}, pid: process.pid }),
);
server.registerTool('crash', {}, async () => process.exit(7));
server.registerTool(
  'garbage',
  { inputSchema: { kind: z.enum(['line', 'half', 'long']) } },
  async ({ kind }, { requestId }) => {
    const lines = {
      line: 'hello, I am a log line\n{"jsonrpc":"2.0","id":"nobody","result":{}}\n',
      half: `{"jsonrpc":"2.0","id":${JSON.stringify(requestId)}}\n`,
      long: `${'x'.repeat(2_000_000)}\n`,
    };
    process.stdout.write(lines[kind]);
    await pause(kind === 'line' ? 0 : 60_000);
    return text('after the garbage');
  },
);
server.registerTool('offspring', {}, async () => {
  // It stays when its parent ends, and does not listen to SIGTERM.
  const child = spawn(process.execPath, ['-e', "process.on('SIGTERM',()=>{});setInterval(()=>{},1000)"], {
    stdio: 'ignore',
  });
  return text({ pid: process.pid, child: child.pid });
});
server.registerTool('ask', {}, async () => {
  const answer = await server.server.elicitInput({
    message: 'What is your name?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  });
  return text(answer);
});
server.registerTool('steps', {}, async ({ _meta, sendNotification }) => {
  for (const progress of [1, 2, 3])
    await sendNotification({
      method: 'notifications/progress',
      params: { progressToken: _meta?.progressToken ?? 0, progress, total: 3 },
    });
  return text('done');
});
server.registerTool('mutter', { inputSchema: { text: z.string() } }, async ({ text: said }) => {
  process.stderr.write(`${said}\n`);
  return text('muttered');
});

await server.connect(new StdioServerTransport());
