import { PassThrough } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import type { ServerSource } from '../../../src/mcp/protocol.ts';
import { createConversations } from '../../../src/mcp/sdk/conversations.ts';
import { createStdioEndpoint, type StdioEndpoint } from '../../../src/mcp/stdio/endpoint.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { authInfoWith } from '../support/auth-info.ts';
import { until } from '../support/served-transport.ts';

/** A host at the other end of an endpoint, in this process. */
export interface ConnectedHost {
  endpoint: StdioEndpoint;
  stdin: PassThrough;
  stdout: PassThrough;
  log: string[];
  /** What came as lines, as JSON. */
  lines: Record<string, unknown>[];
  /** Writes a line: text as it is, anything else as JSON. */
  say(...messages: unknown[]): void;
  /** Waits for so many lines. */
  hear(count: number): Promise<Record<string, unknown>[]>;
  /** The same connection, to a client of the SDK. */
  transport: Transport;
}

/** Connects a host to an endpoint for one test. */
export function connectHost(source: ServerSource, options: { maxLineBytes?: number } = {}): ConnectedHost {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const log: string[] = [];
  const logger = createLogger('debug', (line) => log.push(line));
  const conversations = createConversations({ source, logger });
  const authInfo = authInfoWith('all');
  const endpoint = createStdioEndpoint({
    source,
    conversations,
    stdin,
    stdout,
    authInfo,
    logger,
    ...options,
  });
  onTestFinished(() => endpoint.close());

  const lines: Record<string, unknown>[] = [];
  const transport: Transport = {
    start: async () => undefined,
    async send(message) {
      stdin.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      stdin.end();
      transport.onclose?.();
    },
  };
  let rest = '';
  stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const message = JSON.parse(part);
      lines.push(message);
      transport.onmessage?.(message as JSONRPCMessage);
    }
  });
  return {
    endpoint,
    stdin,
    stdout,
    log,
    lines,
    say(...messages) {
      for (const message of messages)
        stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
    },
    async hear(count) {
      await until(() => lines.length >= count);
      return lines;
    },
    transport,
  };
}

/** The first message of a host of the older revisions. */
export function initialize(protocolVersion = '2025-11-25', id: unknown = 0) {
  const clientInfo = { name: 'host', version: '1' };
  return {
    jsonrpc: '2.0',
    id,
    method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo },
  };
}

/** A request of 2026-07-28. */
export function modern(id: unknown, method: string, params: Record<string, unknown> = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'host', version: '1' },
  };
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } };
}
