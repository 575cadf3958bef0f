// Traces, metrics, log lines and exported records under load, while their receivers are dead or hang: what waits in
// src/telemetry and src/ledger/exporter.ts is bounded. A server without any of them gets the same calls at the same time.
// The full time of each is ten minutes: GATEHOUSE_COLLECTOR_SECONDS=600 npx vitest run test/flows/faults/collectors
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { median } from '../../../bench/median.ts';
import { testFolderForFile } from '../../support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { obtainTokens, register } from '../../support/oauth.ts';
import { startRestartable } from '../crash/served.ts';
import { generousLimits } from '../token/subject.ts';

const seconds = Number(process.env.GATEHOUSE_COLLECTOR_SECONDS || 60);
const callsPerSecond = 40;

/** Seconds of load before anything is measured: the queues fill (2048 spans and 2048 log records), and code is compiled. */
const warmUpSeconds = 60;

/**
 * Most growth of resident memory, in bytes, from the least of the first half of the load to the least of the second one.
 * Between two collections of garbage it rises by up to 55 MB, whether records are lost or not.
 */
const growthBound = 64 * 1024 * 1024;

/** The live heap takes 62 MB. If a server kept what ten minutes lose, about 6 KB a call, it would end without memory. */
const smallHeap = { NODE_OPTIONS: '--max-old-space-size=192' };

/** Most that the median of the waits may exceed that of the server without receivers: a factor, and milliseconds. */
const slowdownBound = { factor: 1.25, ms: 2 };

const folder = testFolderForFile();
let hanging: Server;
let hangingPort: number;
beforeAll(async () => {
  hanging = createServer((socket) => void socket.on('error', () => undefined).resume());
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
  hangingPort = (hanging.address() as AddressInfo).port;
});
afterAll(() => void hanging.close());

const megabytes = (bytes: number): number => Math.round(bytes / 1024 / 102.4) / 10;

/** Starts a server with a caller, which notes its waits and the memory of the server. */
async function startMeasured(name: string, settings: object = {}, env: Record<string, string> = {}) {
  const own = {
    limits: { ...generousLimits, toolCalls: { times: 0 }, mcpRequests: { times: 10_000_000 } },
    mcp: { sessions: 'none' },
    log: { level: 'debug' },
    dangerously: { trustOtherPorts: true },
  };
  const served = await startRestartable(
    join(folder, name),
    { ...own, ...settings },
    { ...env, ...smallHeap },
  );
  onTestFinished(() => served.stop());
  const { client_id: clientId } = await register(served.at.url);
  const { tokens } = await obtainTokens(served.at, { clientId, scopes: ['notes:read', 'notes:write'] });
  const headers = {
    authorization: `Bearer ${tokens.access_token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
  };
  const waitsMs: number[] = [];
  const resident: number[] = [];
  return {
    waitsMs,
    async call(nth: number, isMeasured: boolean): Promise<void> {
      const begun = performance.now();
      const params = { name: 'search_notes', arguments: { text: `text ${nth}` } };
      const body = JSON.stringify({ jsonrpc: '2.0', id: nth, method: 'tools/call', params });
      const response = await fetch(served.at.mcpUrl, { method: 'POST', headers, body });
      expect(await response.text()).toContain('"result"');
      if (isMeasured) waitsMs.push(performance.now() - begun);
    },
    sampleMemory(): void {
      const status = readFileSync(`/proc/${served.program().process.pid}/status`, 'utf8');
      resident.push(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024);
    },
    /** Returns the bytes by which the least memory of the second half exceeds that of the first one. */
    growth(): number {
      const half = Math.floor(resident.length / 2);
      return Math.min(...resident.slice(half)) - Math.min(...resident.slice(0, half));
    },
    /** Returns the memory at each tenth of the load, in megabytes. */
    course: () =>
      Array.from({ length: 10 }, (_, tenth) =>
        megabytes(resident[Math.floor((resident.length * (tenth + 0.999)) / 10)] ?? Number.NaN),
      ),
    /** Returns how often the log says something. */
    logged: (text: string) => served.program().written.stderr.split(text).length - 1,
  };
}

it.each(['is dead', 'hangs'] as const)(
  'A collector that %s costs calls no time and the server no memory, with a receiver of records that hangs',
  async (state) => {
    const port = state === 'hangs' ? hangingPort : await freePort();
    const plain = await startMeasured(`${state}, without`);
    const watched = await startMeasured(
      state,
      { export: { url: `http://127.0.0.1:${hangingPort}/records` } },
      { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_METRIC_EXPORT_INTERVAL: '5000' },
    );
    const calls: Promise<void>[] = [];
    const begun = performance.now();
    for (let nth = 0; nth < (warmUpSeconds + seconds) * callsPerSecond; nth++) {
      const isMeasured = nth >= warmUpSeconds * callsPerSecond;
      for (const server of [plain, watched]) {
        calls.push(server.call(nth, isMeasured));
        if (isMeasured && nth % callsPerSecond === 0) server.sampleMemory();
      }
      await sleep(Math.max(0, begun + ((nth + 1) * 1000) / callsPerSecond - performance.now()));
    }
    await Promise.all(calls);
    const medians = { plain: median(plain.waitsMs), watched: median(watched.waitsMs) };
    console.log(
      `A collector that ${state}, ${seconds} s: memory grew by ${megabytes(watched.growth())} MB (without: ${megabytes(plain.growth())} MB) ` +
        `to ${watched.course()} (without: ${plain.course()}), ` +
        `half of the calls took ${medians.watched.toFixed(2)} ms at most (without: ${medians.plain.toFixed(2)} ms)`,
    );
    for (const text of [
      'spans are lost',
      'metrics are lost',
      'log lines are lost',
      'records cannot be delivered',
    ])
      expect(watched.logged(text), text).toBe(1);
    expect(watched.growth()).toBeLessThan(growthBound);
    expect(medians.watched).toBeLessThan(medians.plain * slowdownBound.factor + slowdownBound.ms);
  },
  300_000 + seconds * 2000,
);
