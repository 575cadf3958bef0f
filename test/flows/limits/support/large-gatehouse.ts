import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { createAdministration, createGatehouse, type GatehouseOptions } from '../../../../src/index.ts';
import { openState } from '../../../support/test-storage.ts';
import { textOf } from './large-answers.ts';

// A gatehouse in a process of its own: a server of code with large answers at the public URL, and routes.
// Arguments: the data folder, and the settings as JSON. Accounts come from the environment.
const [, , folder = '', settings = '{}'] = process.argv;
const data = await openState(folder);
const { accounts } = createAdministration(data);
for (const [email, password] of JSON.parse(process.env.PEOPLE ?? '[]') as [string, string][])
  await accounts.add(email, password);

/** Made once for each length: what a server of code makes for each call is its own memory. */
const texts = new Map<number, string>();
function large(bytes: number): string {
  const made = texts.get(bytes) ?? textOf(bytes).toString('latin1');
  texts.set(bytes, made);
  return made;
}
const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
const create = (): McpServer => {
  const server = new McpServer({ name: 'own', version: '1.0.0' });
  server.registerTool('large', { inputSchema: z.object({ bytes: z.int() }) }, ({ bytes }) =>
    text(large(bytes)),
  );
  server.registerTool('small', { inputSchema: z.object({}) }, () => text('small'));
  return server;
};

const http = createServer();
await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
const { port } = http.address() as AddressInfo;
const gatehouse = await createGatehouse({
  publicUrl: `http://localhost:${port}`,
  server: { create },
  ...data,
  ...(JSON.parse(settings) as Partial<GatehouseOptions>),
});
gatehouse.attach(http);
const metrics = createServer(gatehouse.serveMetrics);
await new Promise<void>((resolve) => metrics.listen(0, '127.0.0.1', resolve));
const { port: metricsPort } = metrics.address() as AddressInfo;
process.stdout.write(`${JSON.stringify({ url: gatehouse.issuer, port, metricsPort })}\n`);
process.once('SIGTERM', async () => {
  http.closeAllConnections();
  http.close();
  metrics.close();
  await gatehouse.close();
  await data.storage.close();
});
