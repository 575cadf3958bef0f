import { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer, Server } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { InFlightMap } from '../../src/collections/in-flight-map.ts';
import type { McpLike } from '../../src/mcp/mcp-like.ts';
import { keepRunningRequestsInFlight } from '../../src/mcp/running-requests.ts';

const info = { name: 'running', version: '1.0.0' };
const member = '_requestHandlerAbortControllers';
const runningOf = (server: object): unknown => (server as Record<string, unknown>)[member];

describe('the requests that run in a server of the SDK', () => {
  const [high, highV1] = [new McpServer(info), new McpServerV1(info)];
  const [low, lowV1] = [new Server(info, { capabilities: {} }), new ServerV1(info, { capabilities: {} })];
  it.each([
    ['McpServer of version 2', high, high.server],
    ['Server of version 2', low, low],
    ['McpServer of version 1', highV1, highV1.server],
    ['Server of version 1', lowV1, lowV1],
  ])('are kept by an InFlightMap: %s', (_name, server, inner) => {
    expect(runningOf(inner)).toBeInstanceOf(Map);
    keepRunningRequestsInFlight(server as McpLike);
    expect(runningOf(inner)).toBeInstanceOf(InFlightMap);
  });

  it('stay where they are in a server that is asked something, or that is not of the SDK', () => {
    const asked = new Server(info, { capabilities: {} });
    const running = runningOf(asked) as Map<unknown, unknown>;
    running.set(1, new AbortController());
    keepRunningRequestsInFlight(asked);
    expect(runningOf(asked)).toBe(running);

    const other: McpLike = { connect: async () => undefined, close: async () => undefined };
    keepRunningRequestsInFlight(other);
    expect(Object.keys(other)).toEqual(['connect', 'close']);
  });
});
