import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { createRestTransport } from '../../../src/mcp/rest/endpoint.ts';
import { RestServerTransport } from '../../../src/mcp/rest/server-transport.ts';
import { call, serveTransport } from '../../mcp/support/served-transport.ts';

const clients = 50;
const callsOfClient = 600;
const callsOfPost = 100;

interface TextAnswer {
  id: unknown;
  result: { content: { text: string }[] };
}

/** Has a client call as often as it should, in batches whose ids are those of every other client; gives its mismatches. */
async function runClient(client: number, url: string, text: (text: string) => string): Promise<string[]> {
  const mismatches: string[] = [];
  for (let first = 0; first < callsOfClient; first += callsOfPost) {
    const sent = Array.from({ length: callsOfPost }, (_, id) => `client ${client}, call ${first + id}`);
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-subject': `person-${client}` },
      body: JSON.stringify(sent.map((one, id) => call(id, 'echo', { text: one }))),
    });
    const answers = (await response.json()) as TextAnswer[];
    sent.forEach((one, id) => {
      const got = answers.find((answer) => answer.id === id)?.result.content[0]?.text;
      if (got !== text(one)) mismatches.push(`${one}: ${got}`);
    });
  }
  return mismatches;
}

const everyClient = async (
  url: string,
  text: (client: number) => (text: string) => string,
): Promise<string[]> =>
  (
    await Promise.all(Array.from({ length: clients }, (_, client) => runClient(client, url, text(client))))
  ).flat();

describe('fifty clients of one Rest server, which all use the same ids', () => {
  it('get two thousand answers each, and not one of another (src/mcp/rest/server-transport.ts; B7-13, T-127)', async () => {
    const transport = new RestServerTransport({ port: 0, log: () => undefined });
    const server = new McpServer({ name: 'one', version: '1' });
    server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, async ({ text }) => {
      // Answers do not come in the order of the calls.
      for (let turns = text.length % 7; turns > 0; turns--) await Promise.resolve();
      return { content: [{ type: 'text', text }] };
    });
    await server.connect(transport);
    await transport.startServer();
    onTestFinished(() => server.close());
    expect(await everyClient(transport.url ?? '', () => (text) => text)).toEqual([]);
  }, 120_000);

  it('get two thousand answers each behind the gate, all of one shared server (src/mcp/rest/endpoint.ts; B7-13, T-127)', async () => {
    const { url, seen } = await serveTransport(createRestTransport, { sharing: 'shared' });
    const mismatches = await everyClient(url, (client) => (text) => `${text} of person-${client}`);
    expect(mismatches).toEqual([]);
    expect(seen.made).toBe(1);
  }, 120_000);
});
