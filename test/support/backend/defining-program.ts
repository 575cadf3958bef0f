// An MCP server over standard input and output, written by hand: what it says of itself and lists is what a file of JSON has at
// that moment, whatever that is. Its first argument is the revision it speaks, its second the file.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** A message of the client. */
interface Request {
  id?: unknown;
  method?: string;
}

/** The definitions of the program. */
export interface Defined {
  instructions?: unknown;
  serverInfo?: object;
  tools?: object[];
  prompts?: object[];
  resources?: object[];
  resourceTemplates?: object[];
}

const [, , revision = '2025-11-25', file = ''] = process.argv;
const isModern = revision === '2026-07-28';
const capabilities = { tools: {}, prompts: {}, resources: {}, completions: {} };

function resultOf(method: string): Record<string, unknown> | undefined {
  const { instructions, serverInfo, ...lists } = JSON.parse(readFileSync(file, 'utf8')) as Defined;
  const { tools = [], prompts = [], resources = [], resourceTemplates = [] } = lists;
  const info = { name: 'defining', version: '1', ...serverInfo };
  switch (method) {
    case 'initialize':
      return isModern
        ? undefined
        : { protocolVersion: revision, capabilities, serverInfo: info, instructions };
    case 'server/discover':
      return isModern
        ? {
            supportedVersions: [revision],
            capabilities,
            instructions,
            _meta: { 'io.modelcontextprotocol/serverInfo': info },
          }
        : undefined;
    case 'tools/list':
      return { tools };
    case 'prompts/list':
      return { prompts };
    case 'resources/list':
      return { resources };
    case 'resources/templates/list':
      return { resourceTemplates };
    case 'tools/call':
      return { content: [{ type: 'text', text: 'called' }] };
    case 'prompts/get':
      return { messages: [{ role: 'user', content: { type: 'text', text: 'said' } }] };
    case 'completion/complete':
      return { completion: { values: ['completed'] } };
    default:
      return undefined;
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line) as Request;
  if (id === undefined || method === undefined) return;
  const result = resultOf(method);
  const modern = isModern ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {};
  const answer = result
    ? { result: { ...modern, ...result } }
    : { error: { code: -32601, message: 'Method not found' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});
