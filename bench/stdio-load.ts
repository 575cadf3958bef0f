// Calls a server over its standard input and output, as the floor of gateways: a child of the bench, on the core of the
// load. Prints what it saw (Measured) as JSON.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { median } from './median.ts';
import { callBody, initializeBody, initializedBody } from './requests.ts';
import { cores, processorMicroseconds } from './server-process.ts';
import type { Measured } from './turns.ts';

/** What the bench asks for. */
export interface StdioLoadTask {
  /** The program and its arguments. */
  command: readonly string[];
  seconds: number;
  /** Calls under way at any time. */
  depth: number;
}

const { command, seconds, depth } = JSON.parse(process.argv[2] ?? '') as StdioLoadTask;
const child = spawn('taskset', ['-c', cores.server, ...command], { stdio: ['pipe', 'pipe', 'inherit'] });
const sentAt = new Map<number, number>();
let [lastId, broken] = [0, 0];
let latencies: number[] = [];

function send(message: string): void {
  child.stdin.write(`${message}\n`);
}

function call(): void {
  const id = ++lastId;
  sentAt.set(id, performance.now());
  send(callBody('session').replace('__ID__', String(id)));
}

const ready = new Promise<void>((resolve) => {
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result } = JSON.parse(line) as { id: number; result?: { content?: { text: string }[] } };
    if (id === 0) {
      resolve();
      return;
    }
    if (result?.content?.[0]?.text !== 'hello') broken++;
    latencies.push(performance.now() - (sentAt.get(id) ?? 0));
    sentAt.delete(id);
    call();
  });
});
send(initializeBody);
await ready;
send(initializedBody);
for (let times = 0; times < depth; times++) call();
await pause(1000);

latencies = [];
const [startedAt, usedBefore] = [performance.now(), processorMicroseconds({ child })];
await pause(seconds * 1000);
const took = (performance.now() - startedAt) / 1000;
const used = processorMicroseconds({ child }) - usedBefore;
const sorted = latencies.sort((a, b) => a - b);
const measured: Measured = {
  seconds: took,
  perSecond: sorted.length / took,
  p50: median(sorted),
  p99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
  refused: 0,
  broken,
  processorMicros: used / sorted.length,
};
process.stdout.write(JSON.stringify(measured));
child.kill('SIGKILL');
process.exit(0);
