import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Server as ServerV2, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { modernRequest, readAnswer } from '../../mcp/support/gate.ts';
import { patience } from '../../support/patience.ts';
import type { ServerForm } from './support/forms.ts';
import { startFront } from './support/front.ts';
import { ways } from './support/ways.ts';

type Schema = { type: 'object'; [keyword: string]: unknown };

function schemasWith(remote: string): Record<string, Schema> {
  const deep = Array.from({ length: 10_000 }, (_, at) => ({
    properties: { [`p${at}`]: { type: 'string' } },
  }));
  return {
    remote: { type: 'object', properties: { a: { $ref: remote } }, $ref: `${remote}#/$defs/b` },
    loop: {
      type: 'object',
      properties: { a: { $ref: '#/$defs/x' } },
      $defs: { x: { $ref: '#/$defs/y' }, y: { $ref: '#/$defs/x' } },
    },
    many: { type: 'object', allOf: deep },
  };
}

/** A server of either version that says what it was called with, whatever its schemas are. */
function serverWith(schemas: Record<string, Schema>, sdk: 'v1' | 'v2') {
  const list = {
    tools: Object.entries(schemas).map(([name, schema]) => ({
      name,
      inputSchema: schema,
      outputSchema: schema,
    })),
  };
  const result = { content: [{ type: 'text' as const, text: 'called' }], structuredContent: { a: 'b' } };
  const info = { name: 'schemas', version: '1' };
  const capabilities = { tools: {} };
  if (sdk === 'v1') {
    const server = new ServerV1(info, { capabilities });
    server.setRequestHandler(ListToolsRequestSchema, () => list);
    server.setRequestHandler(CallToolRequestSchema, () => result);
    return server;
  }
  const supportedProtocolVersions = ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS];
  const server = new ServerV2(info, { capabilities, supportedProtocolVersions });
  server.setRequestHandler('tools/list', () => list);
  server.setRequestHandler('tools/call', () => result);
  return server;
}

/** Counts who fetches schemas. */
async function startSchemaHost(): Promise<{ url: string; requested: () => number }> {
  let requested = 0;
  const host = createServer((_req, res) => {
    requested++;
    res.end('{"type":"string"}');
  });
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  onTestFinished(() => void host.close());
  return {
    url: `http://127.0.0.1:${(host.address() as AddressInfo).port}/schema.json`,
    requested: () => requested,
  };
}

describe.each(['v1', 'v2'] as const)('schemas of a %s server', (sdk) => {
  it.each(['each', 'shared'] as const)(
    'are passed on unread: no $ref is fetched, no loop followed, and size costs little (%s; C1-06, T-148)',
    async (sharing) => {
      const host = await startSchemaHost();
      const schemas = schemasWith(host.url);
      const form: ServerForm = {
        name: 'schemas',
        sdk,
        bring: () => ({ create: () => serverWith(schemas, sdk), sharing }),
      };
      const front = await startFront(form);
      onTestFinished(() => front.stop());
      const begun = performance.now();
      const send = async (method: string, params: Record<string, unknown>) => {
        const { headers, json } = modernRequest(method, params);
        const response = await fetch(front.mcp.url, {
          method: 'POST',
          headers: {
            ...headers,
            accept: 'application/json, text/event-stream',
            'content-type': 'application/json',
            authorization: `Bearer ${front.mcp.accessToken}`,
          },
          body: JSON.stringify(json),
        });
        return readAnswer(response);
      };
      const listed = (await send('tools/list', {})).result?.tools as { name: string; inputSchema: Schema }[];
      expect(listed.map(({ name, inputSchema }) => [name, inputSchema])).toEqual(Object.entries(schemas));
      for (const name of Object.keys(schemas))
        expect((await send('tools/call', { name, arguments: { a: 'b' } })).result).toMatchObject({
          content: [{ text: 'called' }],
        });

      expect(performance.now() - begun).toBeLessThan(patience(5000));

      const [way] = ways.filter(
        ({ revision, transport }) => revision === '2025-11-25' && transport === 'Streamable HTTP',
      );
      const peer = await way?.connect(front);
      expect(await peer?.call('loop', { a: 'b' })).toMatchObject({ content: [{ text: 'called' }] });
      await peer?.close();
      expect(host.requested()).toBe(0);
    },
  );
});
