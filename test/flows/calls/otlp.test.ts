// Flows through src/composition/telemetry.ts, src/telemetry/metric-export.ts and src/telemetry/log-export.ts: a real
// gatehouse, and an OTLP endpoint that reads Protobuf.
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseTraceContext } from '../../../src/observability/trace-context.ts';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import {
  type OtlpReceiver,
  type SentLog,
  type SentMetric,
  startOtlpReceiver,
} from '../../support/otlp-receiver.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';
import { type Elsewhere, serveStreamable } from '../gateway/support/elsewhere.ts';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const patient = { timeout: 30_000 };

let receiver: OtlpReceiver;
let elsewhere: Elsewhere;
let gate: RunningGatehouse;
let client: Client;
let accessToken: string;
beforeAll(async () => {
  receiver = await startOtlpReceiver();
  elsewhere = await serveStreamable();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url);
  vi.stubEnv('OTEL_TRACES_EXPORTER', 'none');
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=test');
  vi.stubEnv('OTEL_METRIC_EXPORT_INTERVAL', '50');
  vi.stubEnv('OTEL_BLRP_SCHEDULE_DELAY', '20');
  gate = await startGatehouse({
    routes: { notes: { backend: { url: elsewhere.url }, policy: { tools: { deny: ['closed'] } } } },
  });
  const connected = await connectSdkV2(`${gate.url}/notes/mcp`, 'legacy', { scopes: ['mcp'] });
  client = connected.client;
  accessToken = connected.provider.tokens()?.access_token ?? '';
  await client.callTool({ name: 'echo', arguments: { text: 'a secret argument' }, _meta: { traceparent } });
  await client.callTool({ name: 'closed', arguments: {} }).catch(() => undefined);
});
afterAll(async () => {
  await client.close();
  await gate.stop();
  await elsewhere.stop();
  await receiver.stop();
  vi.unstubAllEnvs();
});

const resource = { 'service.name': 'gatehouse', 'deployment.environment.name': 'test' };

/** Returns a metric as it was sent last. */
const lastOf = (name: string): SentMetric | undefined =>
  receiver.metrics.findLast((metric) => metric.name === name);

describe('With OTEL_EXPORTER_OTLP_ENDPOINT, the metrics', () => {
  it('have the calls by route, tool, outcome and kind of the client, cumulative since the start', async () => {
    const called = { route: '/notes', client_kind: 'registered' };
    await vi.waitFor(() => {
      const calls = lastOf('gatehouse_calls_total');
      expect(calls).toMatchObject({ kind: 'sum', isMonotonic: true, temporality: 2, resource });
      expect(calls?.points).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ value: 1, attributes: { ...called, tool: 'echo', outcome: 'ok' } }),
          expect.objectContaining({ value: 1, attributes: { ...called, tool: 'other', outcome: 'refused' } }),
        ]),
      );
      for (const { nanoseconds } of calls?.points ?? []) expect(nanoseconds).toBeGreaterThan(0);
    }, patient);
  });

  it('have durations as histograms, and numbers of the moment as gauges', async () => {
    await vi.waitFor(() => {
      const durations = lastOf('gatehouse_call_duration_seconds');
      expect(durations).toMatchObject({ kind: 'histogram', unit: 's', temporality: 2 });
      const ok = durations?.points.find(({ attributes }) => attributes.outcome === 'ok');
      expect(ok?.count).toBe(1);
      expect(ok?.bucketCounts).toHaveLength((ok?.explicitBounds.length ?? 0) + 1);
      expect(ok?.bucketCounts.reduce((sum, count) => sum + count, 0)).toBe(1);
      const memory = lastOf('process_resident_memory_bytes');
      expect(memory).toMatchObject({ kind: 'gauge', unit: 'By', isMonotonic: false });
      expect(memory?.points[0]?.value).toBeGreaterThan(1_000_000);
    }, patient);
  });
});

describe('With OTEL_EXPORTER_OTLP_ENDPOINT, each line of the log', () => {
  /** Returns the identifying parts of a record. */
  const keyOf = ({ at, severityText, body, attributes: { requestId, audit } }: SentLog): string =>
    JSON.stringify([at, severityText, requestId ?? audit ?? body]);

  it('is sent once, from the start of the server to its end', async () => {
    const other = await startGatehouse({ log: { level: 'debug' } });
    await fetch(`${other.url}/healthz`);
    await other.stop();
    const printed = other.log.map((line) => {
      const { time, level, requestId, audit, msg } = JSON.parse(line);
      return JSON.stringify([Date.parse(time), level, requestId ?? audit ?? msg]);
    });
    expect(printed.some((line) => line.includes('the server has stopped'))).toBe(true);
    const sent = receiver.logs.map(keyOf);
    expect(sent.filter((line) => printed.includes(line)).toSorted()).toEqual(printed.toSorted());
  });

  it('has its severity, its members as attributes, and the trace of its request', async () => {
    const { traceId, spanId } = parseTraceContext(traceparent, undefined) ?? {};
    const record = await vi.waitFor(() => {
      const found = receiver.logs.find(
        (log) => log.traceId === traceId && log.attributes.path === '/notes/mcp',
      );
      expect(found).toBeDefined();
      return found;
    }, patient);
    expect(record).toMatchObject({ severityNumber: 5, severityText: 'debug', spanId, resource });
    expect(record?.attributes).toMatchObject({
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      method: 'POST',
      status: 200,
    });
    const line = gate.log.find((each) => each.includes(`"requestId":"${record?.attributes.requestId}"`));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ traceId, spanId, status: 200 });
  });

  it('holds no argument, result, e-mail or token, and neither do the metrics (T-194)', () => {
    expect(receiver.text()).toContain('/notes/mcp');
    expect(accessToken.length).toBeGreaterThan(20);
    for (const secret of ['a secret argument', ada.email, accessToken, 'Bearer'])
      expect(receiver.text().includes(secret), secret).toBe(false);
  });
});

describe('An endpoint that refuses metrics and log lines', () => {
  it('holds no call up, and the log says so once each', async () => {
    const lost = (items: string): string[] =>
      gate.log.filter((line) => line.includes(`${items} are lost: the OTLP endpoint`));
    receiver.be('refusing');
    for (let nth = 0; nth < 3; nth++) {
      await client.callTool({ name: 'echo', arguments: { text: 'one' } });
      await vi.waitFor(() => {
        expect(lost('metrics')).toHaveLength(nodeCount);
        expect(lost('log lines')).toHaveLength(nodeCount);
      }, patient);
    }
    expect(gate.log.join('')).not.toContain('what was sent here');
    receiver.be('well');
    await vi.waitFor(
      () => expect(gate.log.join('')).toContain('the OTLP endpoint takes metrics again'),
      patient,
    );
  });
});
