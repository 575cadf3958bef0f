import { createServer, type Server, type ServerResponse } from 'node:http';
import { ClientError } from '../client-error.ts';
import { errorCode } from '../network-failure.ts';
import { findPortHolder } from './port-holder.ts';
import { answerRedirect, type CallbackOutcome, callbackPath, redirectHandler } from './redirect-handler.ts';

/** Maximum duration of a login, in milliseconds. */
export const loginTimeoutMs = 5 * 60_000;

/** Maximum number of attempts with another free port, if the first is in use on ::1. */
const maxPortAttempts = 5;

/**
 * Maximum time that a browser waits for the result of its login, in milliseconds; then its page points to the
 * terminal.
 */
const holdMs = 8_000;

/** Time in which the page with the result can be reloaded, in milliseconds. */
const lingerMs = 2_000;

/** Listeners of this process whose page can still be reloaded, by port: a new login may need the port. */
const lingering = new Map<number, () => Promise<void>>();

/** A listener for the redirect of one login. */
export interface LoopbackListener {
  /** `http://127.0.0.1:<port>/callback`. */
  redirectUri: string;
  /**
   * Waits for the redirect with this state; others are rejected and change nothing.
   * @param state of the authorization request
   * @param timeoutMs maximum wait, in milliseconds
   * @returns its query; the browser waits for {@link finish}
   * @throws ClientError `login_timed_out`
   */
  receive(state: string, timeoutMs?: number): Promise<URLSearchParams>;
  /**
   * Shows the result of the login in the browser. The page can be reloaded for a moment; then the listener is
   * closed.
   */
  finish(outcome: CallbackOutcome): void;
  /** Tells a waiting browser to return to the terminal, and stops listening. */
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
 * Listens on 127.0.0.1, and on the same port of ::1 if this machine has it: some browsers and tunnels use
 * that for any redirect URI (CL-7). A fixed port may be in use on ::1.
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
 * Opens the loopback listener. It receives the redirect of one login, and shows the result.
 * @param port the port; 0 for a free one
 * @returns the listener, whose redirect URI can already be used
 * @throws ClientError `callback_port_unusable`, with the holder of the port if it can be found (CL-4)
 * @see RFC 8252 sections 7.3 and 8.3 (A6-04, CL-7, T-187)
 */
export async function openLoopback(port = 0): Promise<LoopbackListener> {
  let waiting: { state: string; resolve: (query: URLSearchParams) => void } | undefined;
  let taken: { state: string; query: URLSearchParams; outcome?: CallbackOutcome } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let bound = port;
  const held = new Set<ServerResponse>();
  const answerHeld = (outcome: CallbackOutcome): void => {
    for (const response of held) if (taken) answerRedirect(response, taken.query, outcome);
    held.clear();
  };
  const hold = (response: ServerResponse): void => {
    held.add(response);
    const tired = setTimeout(() => {
      if (held.delete(response) && taken) answerRedirect(response, taken.query, 'unknown');
    }, holdMs);
    response.once('close', () => {
      clearTimeout(tired);
      held.delete(response);
    });
  };
  const handler = redirectHandler(
    () => bound,
    () => [waiting?.state, taken?.state].filter((state) => state !== undefined),
    (query, response) => {
      const { state = '', resolve } = waiting ?? {};
      if (resolve && query.get('state') === state) {
        waiting = undefined;
        clearTimeout(timer);
        taken = { state, query };
        hold(response);
        resolve(query);
      } else if (taken?.outcome !== undefined) answerRedirect(response, taken.query, taken.outcome);
      else hold(response);
    },
  );
  const limits = { maxHeaderSize: 16 * 1024, requestTimeout: 5_000, headersTimeout: 5_000 };
  const servers = [createServer(limits, handler), createServer(limits, handler)] as const;
  const close = async (): Promise<void> => {
    lingering.delete(bound);
    clearTimeout(timer);
    waiting = undefined;
    const answered = [...held].map((response) => new Promise((done) => response.once('finish', done)));
    answerHeld('unknown');
    await Promise.all(answered);
    await Promise.all(servers.map(stop));
  };
  await lingering.get(port)?.();
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
        answerHeld('unknown');
        taken = undefined;
        waiting = { state, resolve };
        timer = setTimeout(() => {
          const seconds = Math.round(timeoutMs / 1000);
          reject(
            new ClientError('login_timed_out', `Nobody came back from the browser within ${seconds} s.`),
          );
          void close();
        }, timeoutMs);
      }),
    finish(outcome) {
      if (taken) taken.outcome = outcome;
      answerHeld(outcome);
      lingering.set(bound, close);
      timer = setTimeout(() => void close(), lingerMs);
    },
    close,
  };
}
