// An MCP server over standard input and output, written without an SDK so that many can be started, and so that it can
// say what no SDK lets it say. Its first argument is how it starts: "sound", or "slow" (waits two seconds), or the path
// of a file whose content it obeys: "ending" there has it end at once.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

const [, , start = 'sound', journal = ''] = process.argv;
if (start.startsWith('/') && existsSync(start) && readFileSync(start, 'utf8').includes('ending'))
  process.exit(3);
if (journal.startsWith('/')) appendFileSync(journal, `${process.pid}\n`);

type Json = Record<string, unknown>;
interface Said {
  id?: string | number;
  method?: string;
  params?: { name?: string; uri?: string; arguments?: Json; _meta?: { progressToken?: unknown } } & Json;
  result?: unknown;
}

const told: Json = { level: null, subscriptions: [] as unknown[], isReady: false, answers: [] as unknown[] };
const subscriptions = told.subscriptions as unknown[];
const say = (message: Json): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
};
const later = (ms: unknown, then: () => void): void => {
  if (ms) setTimeout(then, Number(ms));
  else then();
};

function callTool(id: string | number, name: string, args: Json, progressToken: unknown): void {
  const text = (value: unknown): void =>
    say({ id, result: { content: [{ type: 'text', text: JSON.stringify(value) }] } });
  const kinds: Record<string, () => void> = {
    echo: () => later(args.delayMs, () => text({ said: args.text, pid: process.pid })),
    told: () => text({ ...told, pid: process.pid }),
    surroundings: () =>
      text({
        env: process.env,
        environ: readFileSync('/proc/self/environ', 'latin1'),
        args: process.argv.slice(2),
        folder: process.cwd(),
        pid: process.pid,
      }),
    crash: () => process.exit(7),
    /** Answers of others: with a wrong id, to nobody, and an error to nobody. */
    astray: () => {
      for (const wrong of [String(id), Number(id) + 1_000_000, -1, null])
        say({ id: wrong, result: { content: [{ type: 'text', text: '"astray"' }] } });
      say({ id: null, error: { code: 1, message: 'astray' } });
      text('in place');
    },
    garbage: () => {
      process.stdout.write('a log line\n{"half":\n\u0000\u0001\n[]\n"text"\n\n');
      process.stdout.write(Buffer.from([0xff, 0xfe, 0x0a]));
      text('after the garbage');
    },
    long: () => {
      const part = Buffer.alloc(1_000_000, 'x');
      for (let count = 0; count < Number(args.megabytes); count++) process.stdout.write(part);
      process.stdout.write('\n');
    },
    /** An answer that is whole, and larger than is read: by its values, or by how deep it goes. */
    vast: () => say({ id, result: { content: [], structuredContent: { values: Array(300_000).fill(0) } } }),
    deep: () => {
      const nested = `${'['.repeat(200)}${']'.repeat(200)}`;
      process.stdout.write(
        `{"result":{"id":"inner","content":[],"a":${nested}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}\n`,
      );
    },
    flood: () => {
      const line = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'flood' } })}\n`;
      const many = line.repeat(1000);
      let left = Number(args.seconds) * 100;
      const timer = setInterval(() => {
        process.stdout.write(many);
        if (--left > 0) return;
        clearInterval(timer);
        text('flooded');
      }, 10);
    },
    /** Says what everybody may hear, and what nobody may. */
    announce: () => {
      say({ method: 'notifications/tools/list_changed' });
      say({ method: 'notifications/resources/updated', params: { uri: args.uri } });
      say({ method: 'notifications/message', params: { level: 'error', data: args.secret } });
      say({ method: 'notifications/elsewhere', params: { data: args.secret } });
      say({ method: 'notifications/progress', params: { progressToken: 'guessed', progress: 1 } });
      text('announced');
    },
    steps: () => {
      for (const progress of [1, 2, 3])
        say({ method: 'notifications/progress', params: { progressToken, progress } });
      text('done');
    },
    ask: () => {
      say({ id: 'question', method: args.method ?? 'roots/list', params: {} });
      later(args.delayMs ?? 100, () => text(told.answers));
    },
    grow: () => {
      const held: Buffer[] = [];
      for (;;) held.push(Buffer.alloc(10_000_000, held.length));
    },
    fork: () => {
      for (let count = 0; count < 100; count++) spawn('sleep', ['60'], { stdio: 'ignore' });
    },
    spin: () => {
      for (;;);
    },
  };
  const run = kinds[name];
  if (run) run();
  else say({ id, error: { code: -32602, message: 'There is no such tool.' } });
}

function take({ id, method, params = {}, result }: Said): void {
  if (method === undefined) (told.answers as unknown[]).push(result ?? 'refused');
  else if (method === 'notifications/initialized') told.isReady = true;
  else if (id === undefined) return;
  else if (method === 'initialize') {
    told.capabilities = params.capabilities;
    told.initialize = params.protocolVersion;
    const capabilities = {
      tools: { listChanged: true },
      resources: { subscribe: true },
      logging: {},
      tasks: { list: {} },
    };
    const serverInfo = { name: 'plain', version: '1' };
    later(start === 'slow' ? 2000 : 0, () =>
      say({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } }),
    );
  } else if (method === 'tools/call')
    callTool(id, params.name ?? '', params.arguments ?? {}, params._meta?.progressToken);
  else {
    if (method === 'logging/setLevel') told.level = params.level;
    if (method === 'resources/subscribe') subscriptions.push(params.uri);
    if (method === 'resources/unsubscribe') subscriptions.splice(subscriptions.indexOf(params.uri), 1);
    say({ id, result: method === 'tools/list' ? { tools: [] } : {} });
  }
}

let held = '';
process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
  const lines = (held + chunk).split('\n');
  held = lines.pop() ?? '';
  for (const line of lines) take(JSON.parse(line) as Said);
});
