// An MCP server of 2025-06-18 written by hand, as some are. Its first argument is what it does with a first message it
// does not know: "mute" drops it, "hasty" ends, "confused" answers it with an empty result, "curt" with an error and ends a
// moment later, "offended" with an error, and so all that follows; "sulky" answers with an error and then nothing more, and
// "failing" ends a second after it is asked anything more, and answers nothing where it is started again.
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

const [, , manner = 'mute'] = process.argv;
const say = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);
const tool = { name: 'echo', inputSchema: { type: 'object' } };

let isFirst = true;
let wasAsked = false;
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
  const refuse = (): void => say({ jsonrpc: '2.0', id, error: { code: -32600, message: 'not initialized' } });
  if (isFirst) process.stderr.write(`its first message is ${method}\n`);
  if (isFirst && method !== 'initialize' && manner === 'hasty') process.exit(1);
  if (isFirst && method !== 'initialize' && manner === 'curt') {
    refuse();
    await pause(20);
    process.exit(1);
  }
  if (wasAsked && manner === 'failing') {
    await pause(1000);
    process.exit(1);
  }
  const isSilent = manner === 'sulky' ? wasAsked : manner === 'failing' && method === 'initialize';
  wasAsked ||= isFirst && method !== 'initialize';
  isFirst = false;
  if (isSilent) continue;
  if (wasAsked && ['offended', 'sulky', 'failing'].includes(manner)) refuse();
  else if (method === 'initialize')
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
