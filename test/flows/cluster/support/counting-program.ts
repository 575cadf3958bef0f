// An MCP server as a program that says something of its own accord ten times a second: its process id and the time. Its
// tool `remember` adds to a list that only its process has, and returns the list.
import { createInterface } from 'node:readline';

const say = (message: object): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
};
const remembered: string[] = [];
const tools = [{ name: 'remember', inputSchema: { type: 'object' } }];

interface Heard {
  id?: number | string;
  method?: string;
  params?: { protocolVersion?: string; name?: string; arguments?: { what?: string } };
}

function answer({ method, params }: Heard): object {
  if (method === 'initialize')
    return {
      protocolVersion: params?.protocolVersion,
      capabilities: { logging: {}, tools: {} },
      serverInfo: { name: 'counting', version: '1' },
    };
  if (method === 'tools/list') return { tools };
  if (method !== 'tools/call') return {};
  remembered.push(params?.arguments?.what ?? '');
  return { content: [{ type: 'text', text: `${process.pid} ${remembered.join(' ')}` }] };
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as Heard;
  if (message.id !== undefined && message.method !== undefined)
    say({ id: message.id, result: answer(message) });
  if (message.method === 'notifications/initialized')
    setInterval(() => {
      const data = { pid: process.pid, at: Date.now() };
      say({ method: 'notifications/message', params: { level: 'error', data } });
    }, 100);
});
