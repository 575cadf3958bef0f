// An MCP server of 2025-06-18 written by hand, as some are. Its first argument is what it does with a first message it
// does not know: "mute" drops it, "hasty" ends, "confused" answers it with an empty result.
import { createInterface } from 'node:readline';

const [, , manner = 'mute'] = process.argv;
const say = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);
const tool = { name: 'echo', inputSchema: { type: 'object' } };

let isFirst = true;
for await (const line of createInterface({ input: process.stdin })) {
  const {
    id,
    method,
    params = {},
  } = JSON.parse(line) as {
    id?: number;
    method: string;
    params?: Record<string, unknown>;
  };
  const answer = (result: object): void => say({ jsonrpc: '2.0', id, result });
  if (isFirst) process.stderr.write(`its first message is ${method}\n`);
  if (isFirst && method !== 'initialize' && manner === 'hasty') process.exit(1);
  isFirst = false;
  if (method === 'initialize')
    answer({
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'by hand', version: '1' },
    });
  else if (method === 'ping') answer({});
  else if (method === 'tools/list') answer({ tools: [tool] });
  else if (method === 'tools/call') answer({ content: [{ type: 'text', text: JSON.stringify(params) }] });
  else if (manner === 'confused' && id !== undefined) answer({});
}
