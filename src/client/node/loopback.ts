import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { ClientError } from '../client-error.ts';
import { callbackPage, callbackPageHeaders } from './callback-page.ts';

/** How long a login may take, in milliseconds. */
export const loginTimeoutMs = 5 * 60_000;

/** A listener for the redirect of one login. */
export interface LoopbackListener {
  /** `http://127.0.0.1:<port>/callback`. */
  redirectUri: string;
  /**
   * Waits for the redirect that carries this state; others are refused and change nothing.
   * @param state of the authorization request
   * @param timeoutMs longest wait, in milliseconds
   * @returns its query; the listener is closed then
   * @throws ClientError `timed_out`
   */
  receive(state: string, timeoutMs?: number): Promise<URLSearchParams>;
  /** Stops listening. */
  close(): Promise<void>;
}

/** @returns the status a request is refused with; undefined for the redirect that is waited for */
function refusal(
  request: IncomingMessage,
  url: URL | null,
  hosts: readonly string[],
  state: string | undefined,
): number | undefined {
  if (!hosts.includes(request.headers.host ?? '')) return 421;
  if (url?.pathname !== '/callback') return 404;
  if (request.method !== 'GET') return 405;
  const given = url.searchParams.getAll('state');
  return state !== undefined && given.length === 1 && given[0] === state ? undefined : 400;
}

function answer(response: ServerResponse, status: number, heading: string, text: string): void {
  response.writeHead(status, callbackPageHeaders).end(callbackPage(heading, text));
}

/**
 * Opens the listener on 127.0.0.1 and a free port. It takes one redirect, then closes.
 * @returns the listener, which listens already: its redirect URI can be used
 * @see RFC 8252 sections 7.3 and 8.3 (A6-04, T-187)
 */
export async function openLoopback(): Promise<LoopbackListener> {
  let waiting: { state: string; resolve: (query: URLSearchParams) => void } | undefined;
  let hosts: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const server = createServer(
    { maxHeaderSize: 16 * 1024, requestTimeout: 5_000, headersTimeout: 5_000 },
    (request, response) => {
      const url = URL.parse(request.url ?? '', 'http://127.0.0.1');
      const status = refusal(request, url, hosts, waiting?.state);
      if (status !== undefined || url === null || waiting === undefined) {
        answer(response, status ?? 400, 'Not this login', 'This address takes the answer of one login only.');
        return;
      }
      const { resolve } = waiting;
      waiting = undefined;
      if (url.searchParams.has('error'))
        answer(response, 200, 'Not logged in', 'You can close this tab. The terminal says more.');
      else answer(response, 200, 'Back to the terminal', 'You can close this tab.');
      response.once('close', () => server.closeAllConnections());
      server.close();
      resolve(url.searchParams);
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      clearTimeout(timer);
      waiting = undefined;
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    redirectUri: `http://127.0.0.1:${port}/callback`,
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
