import type { AuthorizationAgent } from '../authorization/code-login.ts';
import type { ClientContext } from '../context.ts';
import { loopbackRedirectUris } from '../registration/dynamic-registration.ts';
import { type LoopbackListener, loginTimeoutMs, openLoopback } from './loopback.ts';
import { type PasteTerminal, receivePaste } from './paste.ts';
import { askAuthorizationEndpoint } from './preflight.ts';
import type { CallbackOutcome } from './redirect-handler.ts';

/** How the user is taken through a login. */
export interface LoginAgentOptions {
  /** The user has to open this URL. */
  open(url: string): void | Promise<void>;
  /** Where the answer can be pasted, should the browser be on another machine. */
  paste?: PasteTerminal | undefined;
  /** Port of the redirect listener; a free one unless told. */
  callbackPort?: number | undefined;
  /** A free port is better than this one only where this one is taken. */
  preferredPort?: number | undefined;
  /** Longest wait for the user, in milliseconds; {@link loginTimeoutMs} unless told. */
  timeoutMs?: number | undefined;
  /** Ends the waiting for the user, whose answer is not taken any more. */
  signal?: AbortSignal | undefined;
}

/** An agent that holds a port until it is closed. */
export interface LoginAgent extends AuthorizationAgent {
  /** @param outcome what the browser is told, if it came back; its page can then be loaded again for a moment */
  close(outcome?: CallbackOutcome): Promise<void>;
}

async function listen({ callbackPort, preferredPort }: LoginAgentOptions): Promise<LoopbackListener> {
  if (callbackPort !== undefined || preferredPort === undefined) return openLoopback(callbackPort);
  return openLoopback(preferredPort).catch(() => openLoopback());
}

/**
 * Opens the agent that takes a person through a login: by the redirect of a browser on this machine, or by what they
 * paste; the first answer counts, and the other way is closed. It listens before the URL is handed out.
 * @param context where requests go through
 * @param options how the user is reached
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
  /** Whether a browser has come back and waits for what comes of the login. */
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
        // What opens the URL may wait for its page, and the page waits for what comes of the login.
        return await Promise.race([answer, Promise.resolve(open(request.url)).then(() => answer)]);
      } finally {
        stop.abort();
        if (!isBack) await close();
      }
    },
    close,
  };
}
