/** How a program pings, in milliseconds. */
export interface Pinging {
  everyMs: number;
  /** How long a ping may go without a result until the program ends. */
  unansweredMs: number;
}

const source = `
const [era, every, unanswered] = process.argv.slice(1);
let last = 0;
let answered = 0;
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const ping = () => {
  const id = 'ping-' + ++last;
  say({ id, method: 'ping' });
  setTimeout(() => answered >= Number(id.slice(5)) || process.exit(3), Number(unanswered)).unref();
};
let isPinging = false;
const begin = () => isPinging || ((isPinging = true), setInterval(ping, Number(every)));
if (era === 'from its start') begin();
const serverInfo = { name: 'pinging', version: '1' };
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) { if (result && String(id).startsWith('ping-')) answered++; }
  else if (id === undefined) return;
  else if (method === 'initialize' && era !== 'modern') {
    say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
    begin();
  } else if (method === 'server/discover' && era === 'modern') {
    const _meta = { 'io.modelcontextprotocol/serverInfo': serverInfo };
    say({ id, result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, _meta } });
    begin();
  } else if (method === 'tools/list')
    say({ id, result: { resultType: 'complete', tools: [{ name: 'pings', inputSchema: { type: 'object' } }] } });
  else if (method === 'tools/call')
    say({ id, result: { resultType: 'complete', content: [{ type: 'text', text: process.pid + ' ' + answered }] } });
  else say({ id, error: { code: -32601, message: 'Method not found' } });
});
`;

/**
 * Returns how a program is started that pings its client, and ends if a ping is not answered with a result in time.
 * @param era the revisions it speaks; it begins with its pings when its client begins, or before
 */
export function pingingProgram(
  era: 'legacy' | 'modern' | 'from its start',
  { everyMs, unansweredMs }: Pinging,
): { command: string; args: string[] } {
  return { command: process.execPath, args: ['-e', source, era, String(everyMs), String(unansweredMs)] };
}
