import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { upstream } from '../../../src/mcp/index.ts';
import type { ServerSource } from '../../../src/mcp/protocol.ts';
import { fromFactory, fromServer } from '../../../src/mcp/sdk/server-factory.ts';
import type { MissingLink, UpstreamAccess, UpstreamCall } from '../../../src/mcp/upstreams/upstream.ts';

const supportedProtocolVersions = ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS];

const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });

/** What the tool of these servers does: says who the API says the caller is. */
async function sayWho(context: Parameters<typeof upstream>[0]) {
  const answer = await upstream(context, 'work', { scopes: ['files:read'] }).fetch('https://api.example/me');
  return text(await answer.text());
}

function createV2(): McpServer {
  const server = new McpServer({ name: 'v2', version: '1' }, { supportedProtocolVersions });
  server.registerTool('who', {}, (context) => sayWho(context));
  server.registerTool('caught', {}, async (context) =>
    sayWho(context).catch(() => text('went on without it')),
  );
  return server;
}

function createV1(): McpServerV1 {
  const server = new McpServerV1({ name: 'v1', version: '1' });
  server.registerTool('who', {}, (extra) => sayWho(extra));
  server.registerTool('caught', {}, async (extra) => sayWho(extra).catch(() => text('went on without it')));
  return server;
}

/** Every way a server can be brought. */
export const sources: Readonly<Record<string, () => ServerSource>> = {
  'a v2 server each': () => fromFactory(createV2, 'each'),
  'a shared v2 server': () => fromFactory(createV2, 'shared'),
  'a ready-made v2 server': () => fromServer(createV2()),
  'a v1 server each': () => fromFactory(createV1 as never, 'each'),
  'a shared v1 server': () => fromFactory(createV1 as never, 'shared'),
  'a ready-made v1 server': () => fromServer(createV1() as never),
};

/** An upstream in the place of the real ones: knows who has linked. */
export function createTestAccess(linked: Iterable<string> = []) {
  const people = new Set(linked);
  const calls: UpstreamCall[] = [];
  const missingOf = (accountId: string, scopes: readonly string[]): MissingLink => ({
    missing: 'link',
    upstream: 'work',
    label: 'Work',
    url: 'https://gate.example/account/upstreams/work/link',
    accountId,
    scopes,
  });
  const access: UpstreamAccess = {
    async call(call) {
      calls.push(call);
      const endsMs = performance.now() + call.patienceMs;
      const { subject } = call.caller;
      while (!people.has(subject) && performance.now() < endsMs)
        await new Promise((resolve) => setTimeout(resolve, 20));
      if (!people.has(subject)) return missingOf(subject, call.scopes);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
      return new Response(subject);
    },
    isGiven: async ({ accountId }) => people.has(accountId),
  };
  return { access, calls, people };
}
