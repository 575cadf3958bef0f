import { createServer, type Server } from 'node:http';
import { ClientError } from '../client-error.ts';
import { errorCode } from '../error-code.ts';
import { findPortHolder } from './port-holder.ts';
import { callbackPath, redirectHandler } from './redirect-handler.ts';

/** How long a login may take, in milliseconds. */
export const loginTimeoutMs = 5 * 60_000;

/** How often another free port is tried where the first is taken on ::1. */
const maxPortAttempts = 5;

/** A listener for the redirect of one login. */
export interface LoopbackListener {
  /** `http://127.0.0.1:<port>/callback`. */
  redirectUri: string;
  /**
   * Waits for the redirect that carries this state; others are refused and change nothing.
   * @param state of the authorization request
   * @param timeoutMs longest wait, in milliseconds
   * @returns its query; the listener is closed then
   * @throws ClientError `login_timed_out`
   */
  receive(state: string, timeoutMs?: number): Promise<URLSearchParams>;
  /** Stops listening. */
  close(): Promise<void>;
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, ipv6Only: true }, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

const stop = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/**
 * Listens on 127.0.0.1, and on the same port of ::1 where this machine has it: some browsers and tunnels go there,
 * whatever the redirect URI names (CL-7). A port that is fixed need not be free on ::1 as well.
 */
async function bind(ipv4: Server, ipv6: Server, port: number): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const bound = await listen(ipv4, '127.0.0.1', port);
    try {
      await listen(ipv6, '::1', bound);
      return bound;
    } catch (error) {
      if (errorCode(error) !== 'EADDRINUSE' || port !== 0 || attempt === maxPortAttempts) return bound;
      await stop(ipv4);
    }
  }
}

async function explainBinding(error: unknown, port: number): Promise<unknown> {
  if (errorCode(error) === 'EACCES')
    return new ClientError(
      'callback_port_unusable',
      `Port ${port} may not be listened on. Choose another one.`,
    );
  if (errorCode(error) !== 'EADDRINUSE') return error;
  const holder = await findPortHolder(port);
  const by = holder === undefined ? 'another program' : `${holder.name} (process ${holder.pid})`;
  return new ClientError(
    'callback_port_unusable',
    `Port ${port} of 127.0.0.1 is in use by ${by}. End that, or choose another port.`,
  );
}

/**
 * Opens the listener on loopback. It takes one redirect, then closes.
 * @param port the port; 0, or none, for a free one
 * @returns the listener, which listens already: its redirect URI can be used
 * @throws ClientError `callback_port_unusable`, naming who holds the port where that can be known (CL-4)
 * @see RFC 8252 sections 7.3 and 8.3 (A6-04, CL-7, T-187)
 */
export async function openLoopback(port = 0): Promise<LoopbackListener> {
  let waiting: { state: string; resolve: (query: URLSearchParams) => void } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let bound = port;
  const handler = redirectHandler(
    () => bound,
    () => waiting?.state,
    (query, response) => {
      const resolve = waiting?.resolve;
      waiting = undefined;
      clearTimeout(timer);
      for (const server of servers) server.close();
      response.once('close', () => {
        for (const server of servers) server.closeAllConnections();
      });
      resolve?.(query);
    },
  );
  const limits = { maxHeaderSize: 16 * 1024, requestTimeout: 5_000, headersTimeout: 5_000 };
  const servers = [createServer(limits, handler), createServer(limits, handler)] as const;
  const close = async (): Promise<void> => {
    clearTimeout(timer);
    waiting = undefined;
    await Promise.all(servers.map(stop));
  };
  try {
    bound = await bind(...servers, port);
  } catch (error) {
    await close();
    throw await explainBinding(error, port);
  }
  return {
    redirectUri: `http://127.0.0.1:${bound}${callbackPath}`,
    receive: (state, timeoutMs = loginTimeoutMs) =>
      new Promise((resolve, reject) => {
        waiting = { state, resolve };
        timer = setTimeout(() => {
          const seconds = Math.round(timeoutMs / 1000);
          reject(
            new ClientError('login_timed_out', `Nobody came back from the browser within ${seconds} s.`),
          );
          void close();
        }, timeoutMs);
      }),
    close,
  };
}
