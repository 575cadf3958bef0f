/** How a client speaks: 2026-07-28, a session of 2025-06-18, or the same revision without a session. */
export type Mode = 'modern' | 'session' | 'stateless';

/** What a load sends: requests to one URL that differ in the id of the message, and in the session. */
export interface Load {
  url: string;
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  /** Text with `__ID__` in the place of the id; none goes with a GET. */
  body: string;
  /** Sessions to go through in turn. */
  sessions?: readonly string[];
  /** The token of each of them, where they are not all of one person. */
  tokens?: readonly string[];
}

const legacyRevision = '2025-06-18';
const modernRevision = '2026-07-28';

/** The `tools/call` of every row: the tool `echo` with a short text. */
export function callBody(mode: Mode): string {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': modernRevision,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = {
    name: 'echo',
    arguments: { text: 'hello' },
    ...(mode === 'modern' ? { _meta: envelope } : {}),
  };
  const message = { jsonrpc: '2.0', id: '__ID__', method: 'tools/call', params };
  return JSON.stringify(message).replace('"__ID__"', '__ID__');
}

/** The headers of every row, with the token of its server. */
export function headersFor(mode: Mode, token: string): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    Authorization: `Bearer ${token}`,
    ...(mode === 'modern'
      ? { 'MCP-Protocol-Version': modernRevision, 'Mcp-Method': 'tools/call', 'Mcp-Name': 'echo' }
      : {}),
    ...(mode === 'session' ? { 'MCP-Protocol-Version': legacyRevision } : {}),
  };
}

/** The body that opens a session. */
export const initializeBody = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: legacyRevision,
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  },
});

/** The notification after it. */
export const initializedBody = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });

/** Opens a session; gives its id. */
export async function openSession(url: string, token: string): Promise<string> {
  const { 'MCP-Protocol-Version': revision = '', ...headers } = headersFor('session', token);
  const opened = await fetch(url, { method: 'POST', headers, body: initializeBody });
  const text = await opened.text();
  const session = opened.headers.get('mcp-session-id');
  if (session === null) throw new Error(`no session: ${opened.status} ${text.slice(0, 300)}`);
  const ready = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'MCP-Protocol-Version': revision, 'Mcp-Session-Id': session },
    body: initializedBody,
  });
  await ready.text();
  return session;
}

/**
 * Sends the call of a load once.
 * @throws Error unless the answer is the echo
 */
export async function checkEcho({ url, headers, body, sessions = [] }: Load): Promise<void> {
  const [session] = sessions;
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, ...(session === undefined ? {} : { 'Mcp-Session-Id': session }) },
    body: body.replace('__ID__', '7'),
  });
  const text = await response.text();
  if (response.status !== 200 || !text.includes('"hello"'))
    throw new Error(`not the echo: ${response.status} ${text.slice(0, 300)}`);
}
