import type { AuthorizationAgent } from '../authorization/code-login.ts';
import type { ClientContext } from '../context.ts';
import { loopbackRedirectUris } from '../registration/dynamic-registration.ts';
import { type LoopbackListener, loginTimeoutMs, openLoopback } from './loopback.ts';
import { type PasteTerminal, receivePaste } from './paste.ts';
import { askAuthorizationEndpoint } from './preflight.ts';
import type { CallbackOutcome } from './redirect-handler.ts';

/** Options of {@link openLoginAgent}. */
export interface LoginAgentOptions {
  /** Shows the URL to the user, or opens it. */
  open(url: string): void | Promise<void>;
  /** The terminal to paste the response in, if the browser is on another machine. */
  paste?: PasteTerminal | undefined;
  /** Port of the redirect listener (default: a free one). */
  callbackPort?: number | undefined;
  /** The port of the redirect listener if it is free, else any other. */
  preferredPort?: number | undefined;
  /** Maximum wait for the user, in milliseconds (default {@link loginTimeoutMs}). */
  timeoutMs?: number | undefined;
  /** Ends the wait for the user; a later response is ignored. */
  signal?: AbortSignal | undefined;
}

/** An agent that holds a port until it is closed. */
export interface LoginAgent extends AuthorizationAgent {
  /**
   * Closes the agent.
   * @param outcome the result to show in the browser, if it has returned; the page can be reloaded for a
   *   moment
   */
  close(outcome?: CallbackOutcome): Promise<void>;
}

async function listen({ callbackPort, preferredPort }: LoginAgentOptions): Promise<LoopbackListener> {
  if (callbackPort !== undefined || preferredPort === undefined) return openLoopback(callbackPort);
  return openLoopback(preferredPort).catch(() => openLoopback());
}

/**
 * Opens an agent that takes a person through a login: by the redirect of a browser on this machine, or by
 * pasted text. The first response counts. The agent listens before it shows the URL.
 * @param context fetch, clock and limits
 * @param options how to reach the user
 * @throws ClientError `callback_port_unusable`
 * @see RFC 8252 sections 4.1 and 7.3 (A6-04, CL-6, T-187)
 */
export async function openLoginAgent(
  context: ClientContext,
  options: LoginAgentOptions,
): Promise<LoginAgent> {
  const { open, paste, timeoutMs = loginTimeoutMs, signal } = options;
  let listener = await listen(options);
  const { redirectUri } = listener;
  let isOpen = true;
  /** True if a browser has returned and waits for the result of the login. */
  let isBack = false;
  const reopen = async (): Promise<void> => {
    if (!isOpen) listener = await openLoopback(Number(new URL(redirectUri).port));
    isOpen = true;
  };
  const close = async (outcome?: CallbackOutcome): Promise<void> => {
    const hasCome = isOpen && isBack;
    isOpen = false;
    if (hasCome && outcome !== undefined) listener.finish(outcome);
    else await listener.close();
  };
  return {
    redirectUri,
    registeredRedirectUris: [...loopbackRedirectUris, redirectUri],
    receive: async (request) => {
      const refused = await askAuthorizationEndpoint(context, request, redirectUri);
      if (refused !== undefined) return refused;
      await reopen();
      const stop = new AbortController();
      try {
        signal?.throwIfAborted();
        const stopped = new Promise<never>((_resolve, reject) =>
          signal?.addEventListener('abort', () => reject(signal.reason), { signal: stop.signal }),
        );
        isBack = false;
        const redirected = listener.receive(request.state, timeoutMs).then((query) => {
          isBack = true;
          return query;
        });
        const expected = { state: request.state, redirectUri };
        const pasted = paste && receivePaste(paste, expected, stop.signal);
        const answer = Promise.race([
          redirected,
          pasted?.then((query) => query ?? redirected) ?? redirected,
          stopped,
        ]);
        // `open` may wait for its page, and the page waits for the result of the login.
        return await Promise.race([answer, Promise.resolve(open(request.url)).then(() => answer)]);
      } finally {
        stop.abort();
        if (!isBack) await close();
      }
    },
    close,
  };
}
