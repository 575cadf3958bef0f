import type { Tokens } from '../../../support/oauth.ts';

/** Opens an MCP session and its stream; `list` calls in the session at a URL, and gives the status. */
export async function openStream({ mcpUrl }: { mcpUrl: string }, { access_token }: Tokens) {
  const headers = {
    authorization: `Bearer ${access_token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const call = (url: string, message: object, more: Record<string, string> = {}): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    });
  const opened = await call(mcpUrl, { method: 'initialize', params });
  await opened.text();
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  const stream = await fetch(mcpUrl, {
    headers: { ...headers, accept: 'text/event-stream', ...session },
  });
  let isOpen = true;
  void stream.text().then(
    () => (isOpen = false),
    () => (isOpen = false),
  );
  const list = async (url: string): Promise<number> => {
    const answer = await call(url, { method: 'tools/list' }, session);
    await answer.text();
    return answer.status;
  };
  return { isOpen: () => isOpen, list };
}
