import { SdkHttpError } from '@modelcontextprotocol/client';
import { ClientError } from '../client-error.ts';

/**
 * Says what an HTTP answer without MCP in it means; the SDK's errors do not always name the status. Those about a login
 * stay as they are.
 * @param error what connecting rejected with
 * @param url URL of the MCP server
 */
export function explainHttpRefusal(error: unknown, url: string): unknown {
  if (!(error instanceof SdkHttpError) || error.status === 401 || error.status === 403) return error;
  const advice = error.status < 500 ? 'Check the path of the URL.' : 'Try again later.';
  const sentence = `${url} answered with ${`${error.status} ${error.statusText ?? ''}`.trim()}. ${advice}`;
  return new ClientError('server_error', sentence, { cause: error });
}

/**
 * The failure at a URL that neither takes `initialize` nor opens the event stream of the old HTTP+SSE.
 * @param error how the first was refused
 * @param url URL of the MCP server
 * @see MCP transports "Backwards Compatibility" (B5-15)
 */
export function noEndpoint(error: SdkHttpError, url: string): ClientError {
  return new ClientError(
    'server_error',
    `${url} is no MCP endpoint: POST is answered with ${error.status}, and GET opens no event stream. Check the path of the URL.`,
    { cause: error },
  );
}
