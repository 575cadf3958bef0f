/** A message of a client, as a server reads it. */
export interface Asked {
  id?: unknown;
  method?: string;
  params?: { name?: string; protocolVersion?: string; arguments?: { text?: string } };
}

const tools = ['echo', 'failing', 'broken', 'forbidden', 'denied'];

/** Returns the response of a server whose tools work, report an error, or fail; undefined for a notification. */
export function answerOf({ id, method, params = {} }: Asked): object | undefined {
  if (id === undefined) return undefined;
  const result = (content: object): object => ({ jsonrpc: '2.0', id, result: content });
  // With a reason of Gatehouse, which is not recorded from a backend.
  const data = { reason: 'backend_busy' };
  const error = (code: number, message: string): object => ({
    ...{ jsonrpc: '2.0', id, error: { code, message, data } },
  });
  if (method === 'initialize')
    return result({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'counted', version: '1' },
    });
  if (method === 'ping') return result({});
  if (method === 'tools/list')
    return result({ tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })) });
  if (method !== 'tools/call') return error(-32601, 'Method not found');
  const content = [{ type: 'text', text: `${params.arguments?.text}` }];
  if (params.name === 'failing') return result({ content, isError: true });
  return params.name === 'broken' ? error(-32050, 'broken') : result({ content });
}
