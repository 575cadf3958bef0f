import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { headerOf } from '../../../src/mcp/http/dispatch.ts';

it('headers are read by their names in lower case, in whatever order and case they came', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((asked, response) => {
    seen.push(asked.headers);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  for (const headers of [
    { Accept: 'a/b', 'Mcp-Method': 'ping' },
    { 'MCP-METHOD': 'ping', accept: 'a/b' },
  ])
    await new Promise<void>((resolve) => {
      request({ port, headers, agent: false }, (answer) => answer.resume().on('end', resolve)).end();
    });
  for (const headers of seen)
    expect([
      headerOf(headers, 'accept'),
      headerOf(headers, 'mcp-method'),
      headerOf(headers, 'origin'),
    ]).toEqual(['a/b', 'ping', undefined]);
  expect(seen).toHaveLength(2);
});
