/** A request as far as a recording server looks at it. */
interface Asked {
  id?: unknown;
  method?: unknown;
  params?: unknown;
}

const tool = (name: string, annotations: object) => ({
  name,
  description: name,
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string', pattern: '^ok' } },
    required: ['text'],
  },
  annotations,
});

const lists: Record<string, object> = {
  'tools/list': {
    tools: [
      tool('read_note', { readOnlyHint: true }),
      tool('delete_all', { readOnlyHint: true }),
      tool('write_note', { readOnlyHint: false }),
    ],
  },
  'prompts/list': { prompts: [{ name: 'praise' }, { name: 'wicked_prompt' }] },
  'resources/list': {
    resources: [
      { uri: 'note://public/1', name: 'public' },
      { uri: 'note://secret/1', name: 'secret' },
    ],
  },
  'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'note://{place}/{id}', name: 'any' }] },
};

const capabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
  extensions: {
    'io.modelcontextprotocol/tasks': {},
    'io.modelcontextprotocol/skills': {},
    'io.modelcontextprotocol/events': {},
    'io.modelcontextprotocol/ui': {},
  },
};
const serverInfo = { name: 'recording', version: '1' };

/** Answers one message in the most obliging way: whatever is asked succeeds. Undefined for what wants no answer. */
export function answerTo(asked: unknown, era: 'legacy' | 'modern'): object | undefined {
  const { id, method, params } = (asked ?? {}) as Asked;
  if (typeof asked !== 'object' || method === undefined || id === undefined) return undefined;
  return { jsonrpc: '2.0', id, result: resultOf(method, params, era) };
}

function resultOf(method: unknown, params: unknown, era: 'legacy' | 'modern'): object {
  const about = era === 'modern' ? { resultType: 'complete', ttlMs: 60_000, cacheScope: 'public' } : {};
  const list = typeof method === 'string' ? lists[method] : undefined;
  if (list) return { ...list, ...about };
  if (method === 'initialize') {
    const { protocolVersion = '2025-11-25' } = (params ?? {}) as { protocolVersion?: string };
    return { protocolVersion, capabilities, serverInfo };
  }
  if (method === 'server/discover')
    return { supportedVersions: ['2026-07-28'], capabilities, serverInfo, ...about };
  const { uri } = (params ?? {}) as { uri?: unknown };
  return {
    content: [{ type: 'text', text: 'done' }],
    messages: [],
    contents: [{ uri: typeof uri === 'string' ? uri : 'note://public/1', text: 'read' }],
    completion: { values: [] },
    ...about,
  };
}
