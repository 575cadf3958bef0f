import { SdkHttpError, type Transport } from '@modelcontextprotocol/client';

/** How the SDK's old HTTP+SSE transport words a refusal of a POST. */
const refusedPost = /^Error POSTing to endpoint \(HTTP 404\)/;

/**
 * Whether a failure says that the server has forgotten the session, so that a new one has to begin. The standard's
 * sign is 404. Many servers are made after an example that answers 400 with a sentence about sessions.
 * @param error what a transport's `send` rejected with
 * @param transport the transport; without a session, 404 has nothing to do with one
 * @see MCP transports "Session Management" (B3-11)
 */
export function isSessionLost(error: unknown, transport: Transport): boolean {
  if (error instanceof SdkHttpError) {
    if (transport.sessionId === undefined) return false;
    const { text } = error.data as { text?: unknown };
    return (
      error.status === 404 || (error.status === 400 && typeof text === 'string' && /session/i.test(text))
    );
  }
  return error instanceof Error && refusedPost.test(error.message);
}
