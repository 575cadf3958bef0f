// What reaches neither the ledger, nor an export, a metric, the log or an OTLP endpoint: src/ledger/ledger.ts,
// src/ledger/exporter.ts, src/telemetry/log-export.ts
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Target } from '../../attacks/support/gates.ts';
import { openLane } from '../../attacks/support/lane.ts';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { obtainTokens, register } from '../../support/oauth.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { createVisitor } from '../../support/visitor.ts';
import { startEchoServer } from './support/echo-server.ts';

const canary = 'canary-7f3a9c';

async function readMetrics({ serveMetrics }: RunningGatehouse): Promise<string> {
  const server = createServer(serveMetrics);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`)).text();
}

/** Starts an OTLP endpoint that the next gatehouse sends to. */
async function receiveTelemetry(): Promise<OtlpReceiver> {
  const receiver = await startOtlpReceiver();
  onTestFinished(() => receiver.stop());
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url);
  for (const interval of ['METRIC_EXPORT_INTERVAL', 'BLRP_SCHEDULE_DELAY', 'BSP_SCHEDULE_DELAY'])
    vi.stubEnv(`OTEL_${interval}`, '100');
  onTestFinished(() => void vi.unstubAllEnvs());
  return receiver;
}

/** Logs Ada in, and opens the route `/echo` for calls with canaries as arguments. */
async function enter(gatehouse: RunningGatehouse) {
  const { client_id: clientId } = await register(gatehouse.url);
  const at = { url: gatehouse.url, mcpUrl: `${gatehouse.url}/echo/rest` };
  const asked = { visitor: createVisitor(), clientId, scope: 'mcp', scopes: ['mcp'] };
  const { access_token: accessToken } = (await obtainTokens(at, asked)).tokens;
  const target = { gatehouse, path: '/echo', naming: {}, tokens: { rest: accessToken } };
  const lane = await openLane(target as unknown as Target, 'rest', { patienceMs: 30_000 });
  onTestFinished(() => lane.close());
  const call = (name: string) => {
    const params = { name, arguments: { text: `${canary} text`, [`${canary}-name`]: canary } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: name, method: 'tools/call', params });
    return lane.send({ body: Buffer.from(body), headers: {} });
  };
  return { call, accessToken };
}

it.each([
  ['hash', false],
  ['redacted', true],
  ['full', true],
] as const)(
  'Arguments, results, error texts, tokens and addresses are in no ledger, export, metric, log and OTLP request, if a route keeps arguments as %s',
  async (keeping, isKept) => {
    const server = await startEchoServer();
    onTestFinished(() => server.stop());
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-canaries-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'records.jsonl');
    const receiver = await receiveTelemetry();
    const gatehouse = await startGatehouse({
      routes: { echo: { backend: { url: server.url }, calls: { arguments: keeping, keep: ['text'] } } },
      export: { file },
    });
    onTestFinished(() => gatehouse.stop());
    const { call, accessToken } = await enter(gatehouse);
    for (const name of ['echo', 'failing', 'broken', canary]) await call(name);
    const list = () => gatehouse.storage.calls.list({ route: '/echo' }, 10);
    await expect.poll(async () => (await list()).length, { timeout: 20_000 }).toBe(4);
    const rows = await list();
    await expect
      .poll(() => readFileSync(file, 'utf8').match(/"type":"call"/g)?.length, { timeout: 20_000 })
      .toBe(4);
    await vi.waitFor(
      () => {
        expect(receiver.spans.filter(({ kind }) => kind === 2)).toHaveLength(4);
        expect(receiver.logs.some(({ attributes }) => attributes.audit === 'token.issued')).toBe(true);
        expect(receiver.text()).toContain('gatehouse_calls_total');
      },
      { timeout: 20_000 },
    );

    const folderOf = (path: string): string =>
      readdirSync(path)
        .filter((name) => name.includes('calls'))
        .map((name) => readFileSync(join(path, name)).toString('latin1'))
        .join('');
    const metrics = await readMetrics(gatehouse);
    expect(metrics).toContain('gatehouse_');
    // Names of tools and of arguments are recorded; values are not.
    const places = {
      ledger: folderOf(gatehouse.folder),
      export: readFileSync(file, 'utf8'),
      metrics,
      log: gatehouse.log.join(''),
      OTLP: receiver.text(),
    };
    for (const [place, text] of Object.entries(places)) {
      expect(text.includes(`${canary} text`), place).toBe(false);
      expect(text.includes(accessToken), place).toBe(false);
      if (place !== 'log') expect(text.includes(ada.email), place).toBe(false);
    }
    const [last] = rows.toReversed();
    const kept = await gatehouse.administration.calls.showArguments(last?.seq ?? 0);
    if (isKept) expect(kept).toMatchObject({ text: `${canary} text` });
    else expect(kept).toBeUndefined();
    const looks = await gatehouse.administration.audit.list({ event: 'calls.arguments_shown', limit: 10 });
    expect(looks.length).toBe(isKept ? 1 : 0);
  },
);

it('Arguments and addresses that a stdio backend writes to its standard error are in no OTLP request', async () => {
  const receiver = await receiveTelemetry();
  const program = nodeProgram('test/flows/calls/support/echo-program.ts', ada.email);
  const gatehouse = await startGatehouse({ routes: { echo: { backend: program } } });
  onTestFinished(() => gatehouse.stop());
  const { call } = await enter(gatehouse);
  await call('echo');
  const message = 'a backend wrote to its standard error';
  await vi.waitFor(
    () => {
      expect(gatehouse.log.join('')).toContain(`${ada.email} calls ${canary} text`);
      expect(receiver.logs.some(({ body }) => body === message)).toBe(true);
    },
    { timeout: 20_000 },
  );
  await gatehouse.stop();
  expect(receiver.text()).not.toContain(`${canary} text`);
  expect(receiver.text()).not.toContain(ada.email);
});
