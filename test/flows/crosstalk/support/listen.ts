import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on loopback for a thousand connections that begin at once; those beyond the default queue would wait long. */
export async function listen(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  const at = { port: 0, host: '127.0.0.1', backlog: 4096 };
  await new Promise<void>((resolve) => server.listen(at, resolve));
  return { server, port: (server.address() as AddressInfo).port };
}
