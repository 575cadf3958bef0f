/** Input schema of the tool: a document need not say how much it is. */
const schema =
  '{"type":"object","properties":{"much":{"type":"integer","maximum":9223372036854775807,"multipleOf":1.0}}}';

const firstId = /"id":("(?:[^"\\]|\\.)*"|[-+.\deE]+)/;

/**
 * Answers a message of JSON-RPC as an MCP server that gives back the source text of the argument `doc`, untouched: as a
 * value, and as a text. It reads no number.
 * @returns the source text of the answer; undefined for what wants none
 */
export function echoSource(text: string, era: 'legacy' | 'modern'): string | undefined {
  const { method, params } = JSON.parse(text) as { method?: string; params?: { protocolVersion?: string } };
  // The SDK's clients write the id behind the rest.
  const [, id] = /"id":("(?:[^"\\]|\\.)*"|[-+.\deE]+)\}$/.exec(text) ?? firstId.exec(text) ?? [];
  if (id === undefined || method === undefined) return undefined;
  const answer = (member: string): string => `{"jsonrpc":"2.0","id":${id},${member}}`;
  const serverInfo = { name: 'echo', version: '1' };
  const about = era === 'modern' ? { resultType: 'complete', ttlMs: 60_000, cacheScope: 'public' } : {};
  const plainly = (result: object): string => answer(`"result":${JSON.stringify({ ...result, ...about })}`);
  if (method === (era === 'modern' ? 'initialize' : 'server/discover'))
    return answer('"error":{"code":-32601,"message":"Method not found"}');
  if (method === 'initialize')
    return plainly({ protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo });
  if (method === 'server/discover')
    return plainly({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo });
  if (method === 'tools/list') {
    const rest = JSON.stringify(about).slice(1);
    return answer(
      `"result":{"tools":[{"name":"echo","inputSchema":${schema}}]${rest === '}' ? '' : ','}${rest}`,
    );
  }
  if (method !== 'tools/call') return plainly({});
  const doc = docIn(text);
  const resultType = era === 'modern' ? '"resultType":"complete",' : '';
  const content = JSON.stringify([{ type: 'text', text: doc }]);
  return answer(
    `"result":{${resultType}"content":${content},"structuredContent":{"doc":${doc},"end":"of doc"}}`,
  );
}

/** Gives the source text of the member `doc`, which `"end":"of doc"` follows. */
export function docIn(text: string): string {
  return text.slice(text.indexOf('"doc":') + '"doc":'.length, text.indexOf(',"end":"of doc"'));
}
