import type { AddressInfo } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';

/**
 * Serves TLS, and nothing within, on a free port of 127.0.0.1 until the running test ends.
 * @param options certificate and versions
 * @returns port
 */
export async function serveTls(options: TlsOptions): Promise<number> {
  const server = createServer(options, (socket) => {
    socket.on('error', () => undefined);
    socket.end();
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return (server.address() as AddressInfo).port;
}
