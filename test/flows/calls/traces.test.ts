// Flows through src/composition/telemetry.ts, src/telemetry/tracing.ts and src/gateway/steps/backend-spans.ts: an
// instrumented client, a real gatehouse, instrumented backends, and an OTLP endpoint that reads Protobuf.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Client } from '@modelcontextprotocol/client';
import { ROOT_CONTEXT } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { formatTraceContext } from '../../../src/observability/trace-context.ts';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { type OtlpReceiver, type SentSpan, startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';
import { type Elsewhere, serveStreamable } from '../gateway/support/elsewhere.ts';
import { type ModernElsewhere, serveModern } from '../gateway/support/modern-elsewhere.ts';

const scopes = ['mcp'];
const modes = ['legacy', { pin: '2026-07-28' }] as const;
const remote = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  isSampled: false,
  tracestate: 'a=b',
};
const { traceparent } = formatTraceContext(remote);

/** Access tokens of all clients. */
const tokens: string[] = [];

let receiver: OtlpReceiver;
let older: Elsewhere;
let modern: ModernElsewhere;
beforeAll(async () => {
  receiver = await startOtlpReceiver();
  older = await serveStreamable();
  modern = await serveModern();
});
afterAll(async () => {
  await Promise.all([receiver.stop(), older.stop(), modern.stop()]);
  vi.unstubAllEnvs();
});

const start = (): Promise<RunningGatehouse> =>
  startGatehouse({
    routes: {
      program: { backend: { ...nodeProgram('test/flows/calls/support/traced-program.ts', receiver.url) } },
      older: { backend: { url: older.url } },
      both: { backends: { one: { url: older.url }, two: { url: modern.url } } },
      modern: { backend: { url: modern.url } },
      closed: { backend: { url: older.url }, policy: { tools: { deny: ['echo'] } } },
    },
  });

async function connect(gate: RunningGatehouse, route: string, mode: (typeof modes)[number]): Promise<Client> {
  const { client, provider } = await connectSdkV2(`${gate.url}/${route}/mcp`, mode, { scopes });
  tokens.push(provider.tokens()?.access_token ?? '');
  onTestFinished(() => client.close());
  return client;
}

function said(result: unknown): { headers: Record<string, string>; meta: Record<string, unknown> } {
  const { content } = result as { content: { text: string }[] };
  return JSON.parse(content[0]?.text ?? '');
}

describe('Without the variables of OpenTelemetry, a call', () => {
  let gate: RunningGatehouse;
  beforeAll(async () => {
    gate = await start();
  });
  afterAll(() => gate.stop());

  it.each(modes)(
    'carries the trace of its caller to the backend unchanged, in _meta and headers (C1-08): %j',
    async (mode) => {
      for (const [route, name] of [
        ['older', 'seen'],
        ['modern', 'look'],
        ['both', mode === 'legacy' ? 'one_seen' : 'two_look'],
      ] as const) {
        const client = await connect(gate, route, mode);
        const _meta = { traceparent, tracestate: 'a=b' };
        const { headers, meta } = said(await client.callTool({ name, arguments: {}, _meta }));
        expect(meta, route).toMatchObject(_meta);
        expect(headers, route).toMatchObject(_meta);
      }
      const calls = await vi.waitFor(async () => {
        const found = await gate.storage.calls.list({}, 3);
        expect(found.map(({ route }) => route)).toEqual(['/both', '/modern', '/older']);
        return found;
      });
      expect(calls.map(({ traceId }) => traceId)).toEqual(Array(3).fill(remote.traceId));
      const { requestId } = calls[0] ?? {};
      const line = gate.log.find((each) => each.includes(`"requestId":"${requestId}"`)) ?? '';
      expect(JSON.parse(line)).toMatchObject({ traceId: remote.traceId, spanId: remote.spanId });
    },
  );

  it('carries no malformed trace, and no baggage of a header', async () => {
    const client = await connect(gate, 'older', 'legacy');
    const before = (await gate.storage.calls.list({ route: '/older' }, 100)).length;
    const asked = {
      name: 'seen',
      arguments: {},
      _meta: { traceparent: `${traceparent}x`, tracestate: 'a=b' },
    };
    const { headers, meta } = said(await client.callTool(asked));
    for (const name of ['traceparent', 'tracestate', 'baggage']) {
      expect(headers).not.toHaveProperty(name);
      expect(meta).not.toHaveProperty(name);
    }
    await vi.waitFor(async () => {
      const [call, ...others] = await gate.storage.calls.list({ route: '/older' }, 100);
      expect(others).toHaveLength(before);
      expect(call?.traceId).toBeNull();
    });
  });

  it('sends nothing to an OTLP endpoint', () => {
    expect(receiver.requests).toEqual([]);
  });
});

describe('A server', () => {
  const load = async (environment: Record<string, string>, ...args: string[]) => {
    const { command, args: program } = nodeProgram('test/flows/calls/support/loaded-modules.ts', ...args);
    const env = { ...process.env, ...environment };
    const { stdout } = await promisify(execFile)(command, program, { env, timeout: 60_000 });
    const { loaded, warnings } = JSON.parse(stdout) as { loaded: string[]; warnings: string[] };
    // The client of Prometheus loads the API, which does nothing by itself.
    return { loaded: loaded.filter((url) => !url.includes('/@opentelemetry/api/')), warnings };
  };
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };

  it('loads OpenTelemetry only if its variables ask for it', async () => {
    expect((await load({})).loaded).toEqual([]);
    expect((await load({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).loaded).toEqual([]);
    const { loaded } = await load(endpoint);
    const parts = [
      ...['/src/telemetry/tracing.ts', '/sdk-trace/', '/exporter-trace-otlp-proto/'],
      ...['/src/telemetry/metric-export.ts', '/sdk-metrics/', '/exporter-metrics-otlp-proto/'],
      ...['/src/telemetry/log-export.ts', '/sdk-logs/', '/exporter-logs-otlp-proto/'],
    ];
    for (const part of parts)
      expect(
        loaded.some((url) => url.includes(part)),
        part,
      ).toBe(true);
    const some = await load({ ...endpoint, OTEL_TRACES_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' });
    const own = some.loaded.filter((url) => url.includes('/src/telemetry/'));
    expect(own.map((url) => url.split('/').at(-1)).toSorted()).toEqual(['metric-export.ts', 'otlp.ts']);
  });

  it('starts without the packages, and says how to install them', async () => {
    const { warnings } = await load(endpoint, 'missing');
    expect(warnings.filter((line) => line.includes('npm i @opentelemetry/sdk-trace'))).toHaveLength(
      nodeCount,
    );
  });
});

describe('With OTEL_EXPORTER_OTLP_ENDPOINT, a call', () => {
  let gate: RunningGatehouse;
  beforeAll(async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url);
    vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Bearer%20of-the-collector');
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=test');
    vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '20');
    gate = await start();
  });
  afterAll(() => gate.stop());

  /** Returns the spans of a trace, once there are as many. */
  const spansOf = (traceId: string, count: number): Promise<SentSpan[]> =>
    vi.waitFor(
      () => {
        const found = receiver.spans.filter((span) => span.traceId === traceId);
        expect(found.length, JSON.stringify(found.map(({ name }) => name))).toBe(count);
        return found;
      },
      { timeout: 20_000 },
    );

  it.each(modes)(
    'is one trace from an instrumented client to an instrumented program (C1-08): %j',
    async (mode) => {
      const exporter = new OTLPTraceExporter({ url: `${receiver.url}/v1/traces` });
      const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
      const client = await connect(gate, 'program', mode);
      const span = provider.getTracer('agent').startSpan('agent', {}, ROOT_CONTEXT);
      const { traceId, spanId } = span.spanContext();
      const _meta = { traceparent: formatTraceContext({ traceId, spanId, isSampled: true }).traceparent };
      await client.callTool({ name: 'work', arguments: { text: 'a secret argument' }, _meta });
      span.end();
      const spans = await spansOf(traceId, 4);
      const root = spans.find(({ name }) => name === 'agent');
      const at = (parent: SentSpan | undefined): SentSpan | undefined =>
        spans.find(({ parentSpanId }) => parentSpanId === parent?.spanId);
      const server = at(root);
      const backend = at(server);
      const work = at(backend);
      expect(root?.parentSpanId).toBe('');
      expect(server).toMatchObject({ name: 'tools/call work', kind: 2, status: 0 });
      expect(backend).toMatchObject({ name: 'tools/call work', kind: 3, status: 0 });
      expect(work).toMatchObject({ name: 'work', kind: 2 });
      const [account] = await gate.administration.accounts.list();
      expect(server?.resource).toMatchObject({
        'service.name': 'gatehouse',
        'deployment.environment.name': 'test',
      });
      expect(server?.attributes).toEqual({
        'mcp.method.name': 'tools/call',
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'work',
        'jsonrpc.request.id': expect.stringMatching(/^\d+$/),
        'mcp.protocol.version': mode === 'legacy' ? '2025-11-25' : mode.pin,
        'network.transport': 'tcp',
        'gatehouse.account.id': account?.id,
        'gatehouse.client.id': expect.any(String),
        'gatehouse.route': '/program',
        'gatehouse.request.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      expect(backend?.attributes).toEqual({
        'mcp.method.name': 'tools/call',
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'work',
        'gatehouse.route': '/program',
        'network.transport': 'pipe',
      });
      const [call] = await vi.waitFor(async () => {
        const found = await gate.storage.calls.list({}, 1);
        expect(found[0]?.traceId).toBe(traceId);
        return found;
      });
      expect(call?.target).toBe('work');
      const line = gate.log.find((each) => each.includes(`"requestId":"${call?.requestId}"`)) ?? '';
      expect(JSON.parse(line)).toMatchObject({ traceId, spanId: server?.spanId });
    },
  );

  it('begins a trace of its own if its caller has none', async () => {
    const client = await connect(gate, 'modern', { pin: '2026-07-28' });
    const { meta } = said(await client.callTool({ name: 'look', arguments: {} }));
    const [, traceId = '', spanId] = String(meta.traceparent).split('-');
    const spans = await spansOf(traceId, 2);
    const backend = spans.find((span) => span.spanId === spanId);
    const server = spans.find((span) => span.spanId === backend?.parentSpanId);
    expect(server).toMatchObject({ kind: 2, parentSpanId: '' });
  });

  it('is traced by our own decision, whatever its caller says of sampling', async () => {
    const client = await connect(gate, 'both', 'legacy');
    const _meta = { traceparent, tracestate: 'a=b' };
    const { meta } = said(await client.callTool({ name: 'one_seen', arguments: {}, _meta }));
    const spans = await spansOf(remote.traceId, 2);
    expect(meta).toMatchObject({ tracestate: 'a=b', traceparent: expect.stringMatching(/-01$/) });
    for (const span of spans)
      expect(span).toMatchObject({ traceState: 'a=b', attributes: { 'gatehouse.backend': 'one' } });
  });

  it.each([
    ['program', { name: 'work', arguments: { text: 'a secret argument', fails: true } }, 'tool_error', 3],
    ['closed', { name: 'echo', arguments: { text: 'a secret argument' } }, '-32602', 1],
  ] as const)(
    'that fails has its error type and the status of an error: %s',
    async (route, asked, type, count) => {
      const client = await connect(gate, route, 'legacy');
      const traceId = `${count}`.repeat(32);
      const _meta = { traceparent: `00-${traceId}-${remote.spanId}-01` };
      await client.callTool({ ...asked, _meta }).catch(() => undefined);
      const spans = await spansOf(traceId, count);
      for (const span of spans.filter(({ name }) => name.startsWith('tools/call'))) {
        expect(span).toMatchObject({ status: 2, statusMessage: '' });
        expect(span.attributes['error.type']).toBe(type);
      }
    },
  );

  it('leaves no argument, result, e-mail or token in a span', () => {
    expect(receiver.text()).toContain('tools/call work');
    expect(tokens.every((token) => token.length > 20)).toBe(true);
    for (const secret of ['a secret argument', ada.email, 'Bearer', ...tokens])
      expect(receiver.text().includes(secret), secret).toBe(false);
    const ours = receiver.requests.filter(({ authorization }) => authorization !== undefined);
    expect(ours[0]?.authorization).toBe('Bearer of-the-collector');
    expect(gate.log.join('')).not.toContain('of-the-collector');
  });

  it.each(['refusing', 'silent'] as const)('is not held up by an endpoint that is %s', async (mood) => {
    const client = await connect(gate, 'older', 'legacy');
    vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '100');
    const other = await start();
    onTestFinished(() => other.stop());
    const lines = (): string[] => other.log.filter((line) => line.includes('spans are lost'));
    receiver.be(mood);
    onTestFinished(() => receiver.be('well'));
    const again = await connect(other, 'older', 'legacy');
    for (let nth = 0; nth < 3; nth++) {
      expect(await again.callTool({ name: 'echo', arguments: { text: 'one' } })).toBeDefined();
      await vi.waitFor(() => expect(lines()).toHaveLength(1), { timeout: 20_000 });
    }
    expect(lines().join('')).not.toContain('what was sent here');
    receiver.be('well');
    const before = receiver.spans.length;
    await client.callTool({ name: 'echo', arguments: { text: 'one' } });
    await vi.waitFor(() => expect(receiver.spans.length).toBeGreaterThan(before), { timeout: 20_000 });
  });
});
