import { type Received, send } from '../../crosstalk/support/http.ts';

/** What a tool of the plain program said, or the error that came instead. */
export interface Said {
  value?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

/** A session of 2025-11-25, whose requests all have the id 1. */
export interface RawSession {
  call(name: string, input?: object): Promise<Said>;
  leave(): Promise<void>;
}

/** Opens a session by hand. */
export async function openSession(port: number, token: string): Promise<RawSession> {
  let headers: Record<string, string> = { authorization: `Bearer ${token}` };
  const ask = async (method: string, params: object) => {
    const heard: Received[] = [];
    const { status, headers: answered } = await send({
      port,
      path: '/mcp',
      headers,
      body: { jsonrpc: '2.0', id: 1, method, params },
      onMessage: (message) => heard.push(message),
    });
    const answers = heard.filter((message) => message.method === undefined);
    if (answers.length !== 1 || answers[0]?.id !== 1)
      throw new Error(`${status}, and ${answers.length} answers to one request: ${JSON.stringify(heard)}`);
    return { answer: answers[0], session: String(answered['mcp-session-id']) };
  };
  const clientInfo = { name: 'raw', version: '1' };
  const opened = await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  if (opened.answer.error) throw new Error(opened.answer.error.message);
  headers = { ...headers, 'mcp-session-id': opened.session };
  return {
    async call(name, input = {}) {
      const { answer } = await ask('tools/call', { name, arguments: input });
      if (answer.error) return { error: answer.error };
      const content = answer.result?.content as { text: string }[] | undefined;
      return { value: JSON.parse(content?.[0]?.text ?? 'null') };
    },
    async leave() {
      await send({ port, path: '/mcp', method: 'DELETE', headers });
    },
  };
}
