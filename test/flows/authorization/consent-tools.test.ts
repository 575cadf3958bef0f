import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer, requireScopes, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { declareScopes, type OwnServer } from '../../../src/index.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { authorization, openConsent, register } from '../../support/oauth.ts';
import { grace } from '../../support/served.ts';
import { createVisitor } from '../../support/visitor.ts';

// Over src/mcp/scopes/scope-tools.ts, src/mcp/modern/streamable-http.ts and src/authorization-server/interactions/consent.ts.

const scopes = { 'count:see': 'See the count.', 'count:up': 'Count up.' };
const answer = () => ({ content: [] });
const inputSchema = z.object({});

function createV2(supportedProtocolVersions?: string[]): McpServer {
  const server = new McpServer(
    { name: 'counter', version: '1.0.0' },
    supportedProtocolVersions ? { supportedProtocolVersions } : {},
  );
  server.registerTool('help', { inputSchema }, answer);
  server.registerTool('see', { inputSchema, scopeChallenge: requireScopes('count:see') }, answer);
  server.registerTool('up', { inputSchema, scopeChallenge: requireScopes('count:up') }, answer);
  return server;
}

function createV1(): McpServerV1 {
  const server = new McpServerV1({ name: 'counter', version: '1.0.0' });
  for (const name of ['help', 'see', 'up']) server.registerTool(name, {}, answer);
  return declareScopes(server, { tools: { see: ['count:see'], up: ['count:up'] } });
}

const all = ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS];

async function start(server: OwnServer | undefined): Promise<RunningGatehouse> {
  const gatehouse = await startGatehouse(server ? { server } : {});
  onTestFinished(() => gatehouse.stop());
  return gatehouse;
}

/** What the consent page says: scope -> tools; those without a scope under the empty name. */
async function toolsShown(
  gatehouse: RunningGatehouse,
  scope: string,
  person?: typeof grace,
): Promise<Record<string, string[]>> {
  const { client_id } = await register(gatehouse.url);
  const { html } = await openConsent(authorization(gatehouse, client_id, { scope }), createVisitor(), person);
  const named = (text = '') => [...text.matchAll(/<code>([^<]*)<\/code>/g)].map(([, name]) => String(name));
  const rows = [...html.matchAll(/name="scope" value="([^"]*)"[\s\S]*?<\/label>/g)];
  const free = named(/need no permission[\s\S]*?<\/p>/.exec(html)?.[0]);
  return {
    ...Object.fromEntries(rows.map(([row, name]) => [String(name), named(row)])),
    ...(free.length > 0 ? { '': free } : undefined),
  };
}

describe('the consent page names the tools each scope opens', () => {
  it('of the notes server', async () => {
    expect(await toolsShown(await start(undefined), 'notes:read notes:write')).toEqual({
      'notes:read': ['search_notes'],
      'notes:write': ['add_note', 'delete_note'],
      '': ['whoami'],
    });
  });

  it.each<[string, () => OwnServer]>([
    ['made for each caller, SDK v2', () => ({ create: () => createV2(), scopes })],
    ['one for all callers, SDK v2', () => ({ create: () => createV2(all), sharing: 'shared', scopes })],
    ['brought ready-made, SDK v2', () => ({ mcp: createV2(all), scopes })],
    ['made for each caller, SDK v1', () => ({ create: () => createV1(), scopes })],
    ['brought ready-made, SDK v1', () => ({ mcp: createV1(), scopes })],
  ])('of a server that is %s', async (_kind, server) => {
    expect(await toolsShown(await start(server()), 'count:see count:up')).toEqual({
      'count:see': ['see'],
      'count:up': ['up'],
      '': ['help'],
    });
  });

  it('as the account that decides sees them, where the server is made for who calls', async () => {
    const gatehouse = await start({
      create: ({ authInfo }) => {
        const server = new McpServer({ name: 'own', version: '1.0.0' });
        server.registerTool(`tool_of_${authInfo?.subject}`, { inputSchema }, answer);
        return server;
      },
      scopes,
    });
    await gatehouse.administration.accounts.add(grace.email, grace.password);
    const [ada, hers] = await gatehouse.administration.accounts.list();
    expect((await toolsShown(gatehouse, 'count:see'))['']).toEqual([`tool_of_${ada?.id}`]);
    expect((await toolsShown(gatehouse, 'count:see', grace))['']).toEqual([`tool_of_${hers?.id}`]);
  });

  it.each<[string, () => Promise<McpServer>]>([
    ['throws', () => Promise.reject(new Error('no server today'))],
    ['never answers', () => new Promise(() => undefined)],
  ])('and asks without them where the server %s', async (_how, create) => {
    const gatehouse = await start({ create, scopes });
    expect(await toolsShown(gatehouse, 'count:see')).toEqual({ 'count:see': [] });
  });
});
