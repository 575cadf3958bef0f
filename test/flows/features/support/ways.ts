import {
  StreamableHTTPClientTransport as HttpV2,
  SSEClientTransport as SseV2,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { nodeProgram } from '../../../support/node-program.ts';
import type { ServerForm } from './forms.ts';
import type { Front } from './front.ts';
import { allAbilities, type Peer } from './peer.ts';
import { connectV1 } from './peer-v1.ts';
import { connectV2 } from './peer-v2.ts';

type TransportName = 'Streamable HTTP' | 'HTTP+SSE' | 'stdio';

/** A way of a client to the server. */
export interface Way {
  sdk: 'v1' | 'v2';
  transport: TransportName;
  revision: string;
  /** Connects a client; it says it can do everything unless other capabilities are given. */
  connect(front: Front, capabilities?: Record<string, unknown>): Promise<Peer>;
}

function openTransport(sdk: 'v1' | 'v2', transport: TransportName, { mcp, sse, form }: Front) {
  const { url, accessToken } = transport === 'HTTP+SSE' ? sse : mcp;
  const requestInit = { headers: { authorization: `Bearer ${accessToken}` } };
  const program = nodeProgram('test/flows/features/support/stdio-program.ts', form.name);
  const open = {
    v1: {
      'Streamable HTTP': () => new HttpV1(url, { requestInit }),
      'HTTP+SSE': () => new SseV1(url, { requestInit }),
      stdio: () => new StdioV1(program),
    },
    v2: {
      'Streamable HTTP': () => new HttpV2(url, { requestInit }),
      'HTTP+SSE': () => new SseV2(url, { requestInit }),
      stdio: () => new StdioV2(program),
    },
  };
  return open[sdk][transport]();
}

function wayOf(sdk: 'v1' | 'v2', transport: TransportName, revision: string): Way {
  const connectPeer = sdk === 'v1' ? connectV1 : connectV2;
  return {
    sdk,
    transport,
    revision,
    connect: (front, capabilities = allAbilities) =>
      connectPeer(openTransport(sdk, transport, front), { revision, capabilities }),
  };
}

/**
 * Whether the way leads to such a server. A local host finds out which era its server is of: one of SDK version 1 is
 * spoken to in the older revisions.
 */
export function leadsTo({ sdk }: ServerForm, { transport, revision }: Way): boolean {
  return !(sdk === 'v1' && transport === 'stdio' && revision === '2026-07-28');
}

/** Every way clients of the SDK have. */
export const ways: readonly Way[] = [
  ...(['v1', 'v2'] as const).flatMap((sdk) => [
    ...['2025-03-26', '2025-06-18', '2025-11-25'].map((revision) => wayOf(sdk, 'Streamable HTTP', revision)),
    wayOf(sdk, 'HTTP+SSE', '2024-11-05'),
    wayOf(sdk, 'stdio', '2025-11-25'),
  ]),
  wayOf('v2', 'Streamable HTTP', '2026-07-28'),
  wayOf('v2', 'stdio', '2026-07-28'),
];
