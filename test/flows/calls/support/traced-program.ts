// An MCP server of SDK v2 as an instrumented program: its first argument is the OTLP endpoint for its spans.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { z } from 'zod';
import { parseTraceContext } from '../../../../src/observability/trace-context.ts';

const exporter = new OTLPTraceExporter({ url: `${process.argv[2]}/v1/traces` });
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer = provider.getTracer('program');

const createServer = (): McpServer => {
  const server = new McpServer({ name: 'traced', version: '1' });
  server.registerTool(
    'work',
    { inputSchema: z.object({ text: z.string(), fails: z.boolean().optional() }) },
    ({ text, fails = false }, { mcpReq: { _meta: meta } }) => {
      const parent = parseTraceContext(meta?.traceparent, meta?.tracestate);
      const context = parent
        ? trace.setSpanContext(ROOT_CONTEXT, {
            ...{ traceId: parent.traceId, spanId: parent.spanId, isRemote: true },
            traceFlags: parent.isSampled ? 1 : 0,
          })
        : ROOT_CONTEXT;
      tracer.startSpan('work', { kind: SpanKind.SERVER }, context).end();
      return { isError: fails, content: [{ type: 'text' as const, text }] };
    },
  );
  return server;
};
serveStdio(createServer);
