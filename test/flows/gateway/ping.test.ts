// Over src/mcp/conversations/server-line.ts: the gateway is the client of a program, and answers its pings.
import { describe, expect, it, onTestFinished } from 'vitest';
import { startGatehouse } from '../../support/gatehouse.ts';
import { enter, openDoor } from '../attacks/support/doors.ts';

/** A program that pings its client every 100 ms, and ends if a ping is not answered with a result within three seconds. */
const pingingProgram = `
let last = 0;
let answered = 0;
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const ping = () => {
  const id = 'ping-' + ++last;
  say({ id, method: 'ping' });
  setTimeout(() => answered >= Number(id.slice(5)) || process.exit(3), 3000).unref();
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) { if (result && String(id).startsWith('ping-')) answered++; }
  else if (id === undefined) return;
  else if (method === 'initialize') {
    const serverInfo = { name: 'pinging', version: '1' };
    say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
    setInterval(ping, 100);
  } else if (method === 'tools/list') say({ id, result: { tools: [{ name: 'pings', inputSchema: { type: 'object' } }] } });
  else if (method === 'tools/call') say({ id, result: { content: [{ type: 'text', text: process.pid + ' ' + answered }] } });
  else say({ id, error: { code: -32601, message: 'Method not found' } });
});
`;

describe.each(['session', 'account', 'shared'] as const)('a program with process: %s', (sharing) => {
  it.each(['mcp 2025', 'mcp 2026'] as const)(
    'A program whose pings are answered lives on between the calls of a client at %s (FA-41)',
    async (name) => {
      const gatehouse = await startGatehouse({
        backend: { command: process.execPath, args: ['-e', pingingProgram], process: sharing },
      });
      onTestFinished(() => gatehouse.stop());
      const door = await openDoor(gatehouse, name, await enter(gatehouse, { scopes: ['mcp'] }));
      onTestFinished(() => door.close());
      const call = async (): Promise<number[]> => {
        const { result } = await door.ask('tools/call', { name: 'pings', arguments: {} }, 7);
        const [{ text }] = (result as { content: [{ text: string }] }).content;
        return text.split(' ').map(Number);
      };
      const [pid] = await call();
      await new Promise((resolve) => setTimeout(resolve, 3500));
      const [later, answered] = await call();
      expect(later).toBe(pid);
      expect(answered).toBeGreaterThan(10);
    },
  );
});
