import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { repository } from '../../../support/program.ts';

/** MCP servers of others, and what they need: a package and a lock file of their own. */
export const serversFolder = join(repository, 'test/peers/servers');

/** What is used of a client, whichever SDK it is of. */
export interface Caller {
  listTools(): Promise<{ tools: { name: string; _meta?: Record<string, unknown> | undefined }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<object>;
  readResource(resource: { uri: string }): Promise<{ contents: object[] }>;
  getPrompt(prompt: { name: string; arguments?: Record<string, string> }): Promise<{ messages: object[] }>;
}

/** What people do with an MCP server of somebody else. */
export interface Usage {
  /** Names of some of its tools. */
  tools: string[];
  /** Its processes write one file, and each overwrites what the others wrote at the same moment. */
  isUsedInTurn?: true;
  /**
   * Uses it as a person would.
   * @param mark what nobody else says
   */
  use(caller: Caller, mark: string, folder: string): Promise<void>;
}

/** How a program is started: its file below node_modules of {@link serversFolder}, and what it is given. */
export interface Start {
  file: string;
  args: string[];
  env?: Record<string, string>;
}

/** An MCP server that speaks over standard input and output. */
export interface RealServer extends Usage {
  /** `folder` is empty, and its own. */
  start(folder: string): Start;
}

/** An MCP server, or a bridge before one, that is reached by URL. */
export interface RealHttpServer extends Usage {
  /** `folder` is empty, and its own. */
  start(folder: string, port: number): Start & { path: string };
}

/** What a tool answered: the text, which must not be an error. */
export function textOf(result: object): string {
  const { content, isError } = result as { content: { text?: string }[]; isError?: boolean };
  expect(isError ?? false, JSON.stringify(result)).toBe(false);
  return content.map(({ text = '' }) => text).join('\n');
}

const everythingFile = '@modelcontextprotocol/server-everything/dist/index.js';
const filesystemFile = '@modelcontextprotocol/server-filesystem/dist/index.js';
const memoryFile = '@modelcontextprotocol/server-memory/dist/index.js';
const appFile = '@modelcontextprotocol/server-basic-vanillajs/dist/index.js';
const browserFile = '@playwright/mcp/cli.js';
const modules = join(serversFolder, 'node_modules');

const browserArguments = (folder: string): string[] => [
  ...['--headless', '--isolated', '--no-sandbox', '--output-dir', folder],
  ...['--executable-path', process.env.CHROMIUM_PATH ?? ''],
];

const everything: RealServer = {
  start: () => ({ file: everythingFile, args: ['stdio'] }),
  tools: ['echo', 'get-structured-content', 'trigger-long-running-operation'],
  async use(caller, mark) {
    const { callTool } = calling(caller);
    expect(textOf(await callTool('echo', { message: mark }))).toBe(`Echo: ${mark}`);
    expect(await callTool('get-structured-content', { location: 'Chicago' })).toMatchObject({
      structuredContent: { temperature: expect.any(Number), humidity: expect.any(Number) },
    });
    expect(await callTool('get-tiny-image')).toMatchObject({
      content: expect.arrayContaining([
        expect.objectContaining({ type: 'image', mimeType: 'image/png', data: expect.any(String) }),
      ]),
    });
    expect(await callTool('get-sum', { a: mark, b: 1 })).toMatchObject({ isError: true });
    expect(await caller.readResource({ uri: 'demo://resource/dynamic/text/7' })).toMatchObject({
      contents: [{ mimeType: 'text/plain', text: expect.stringContaining('Resource 7') }],
    });
    const prompt = await caller.getPrompt({ name: 'args-prompt', arguments: { city: mark } });
    expect(prompt).toMatchObject({ messages: [{ content: { text: `What's weather in ${mark}?` } }] });
  },
};

const filesystem: RealServer = {
  start: (folder) => ({ file: filesystemFile, args: [folder] }),
  tools: ['write_file', 'read_text_file', 'directory_tree'],
  async use(caller, mark, folder) {
    const { callTool } = calling(caller);
    const path = join(folder, `${mark}.txt`);
    await callTool('write_file', { path, content: `one\n${mark}\n` });
    const edits = [{ oldText: 'one', newText: 'two' }];
    expect(textOf(await callTool('edit_file', { path, edits }))).toContain('+two');
    expect(textOf(await callTool('read_text_file', { path }))).toBe(`two\n${mark}\n`);
    expect(textOf(await callTool('list_directory', { path: folder }))).toContain(`[FILE] ${mark}.txt`);
    expect(textOf(await callTool('search_files', { path: folder, pattern: `${mark}*` }))).toBe(path);
    expect(await callTool('read_text_file', { path: '/etc/passwd' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Access denied') }],
    });
  },
};

const memory: RealServer = {
  start: (folder) => ({
    file: memoryFile,
    args: [],
    env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
  }),
  tools: ['create_entities', 'search_nodes', 'read_graph'],
  isUsedInTurn: true,
  async use(caller, mark) {
    const { callTool } = calling(caller);
    const entities = [{ name: mark, entityType: 'person', observations: ['lives in Ulm'] }];
    expect(await callTool('create_entities', { entities })).toMatchObject({
      structuredContent: { entities },
    });
    const found = await callTool('search_nodes', { query: mark });
    expect(found).toMatchObject({ structuredContent: { entities, relations: [] } });
    const graph = await caller.readResource({ uri: 'memory://knowledge-graph' });
    expect(graph).toMatchObject({ contents: [{ text: expect.stringContaining(mark) }] });
  },
};

const sequentialThinking: RealServer = {
  start: () => ({ file: '@modelcontextprotocol/server-sequential-thinking/dist/index.js', args: [] }),
  tools: ['sequentialthinking'],
  async use(caller, mark) {
    const { callTool } = calling(caller);
    // It keeps what was thought in its memory: a process that others use, too, counts more.
    for (const thoughtNumber of [1, 2, 3]) {
      const thought = {
        thought: mark,
        thoughtNumber,
        totalThoughts: 3,
        nextThoughtNeeded: thoughtNumber < 3,
      };
      expect(await callTool('sequentialthinking', thought)).toMatchObject({
        structuredContent: { thoughtNumber, thoughtHistoryLength: thoughtNumber },
      });
      await pause(20);
    }
  },
};

const helloWorld: RealServer = {
  start: () => ({ file: 'mcp-hello-world/build/stdio.js', args: [] }),
  tools: ['echo', 'add'],
  async use(caller, mark) {
    const { callTool } = calling(caller);
    expect(textOf(await callTool('echo', { message: mark }))).toContain(mark);
    expect(textOf(await callTool('add', { a: 40, b: 2 }))).toContain('42');
    const greeting = await caller.readResource({ uri: `greeting://${mark}` });
    expect(greeting).toMatchObject({ contents: [{ text: expect.stringContaining(mark) }] });
    const { messages } = await caller.getPrompt({ name: 'helpful-assistant' });
    expect(messages).toHaveLength(1);
  },
};

const commands: RealServer = {
  start: () => ({ file: 'mcp-server-commands/build/index.js', args: [] }),
  tools: ['run_command'],
  async use(caller, mark) {
    const { callTool } = calling(caller);
    const command = `echo ${mark} $((6 * 7))`;
    expect(textOf(await callTool('run_command', { command }))).toContain(`${mark} 42`);
    expect(textOf(await callTool('run_command', { command: 'env' }))).not.toMatch(/GATEHOUSE|CANARY/);
    const prompt = await caller.getPrompt({ name: 'run_command', arguments: { command } });
    expect(JSON.stringify(prompt.messages)).toContain(`${mark} 42`);
  },
};

const app: RealServer = {
  start: () => ({ file: appFile, args: ['--stdio'] }),
  tools: ['get-time'],
  async use(caller) {
    const { callTool } = calling(caller);
    const { tools } = await caller.listTools();
    const uri = 'ui://get-time/mcp-app.html';
    expect(tools[0]).toMatchObject({ _meta: { ui: { resourceUri: uri } } });
    expect(await callTool('get-time')).toMatchObject({
      structuredContent: { time: expect.stringMatching(/^\d{4}-/) },
    });
    const page = await caller.readResource({ uri });
    expect(page).toMatchObject({
      contents: [{ mimeType: 'text/html;profile=mcp-app', text: expect.stringContaining('<html') }],
    });
  },
};

const browser: RealServer = {
  start: (folder) => ({ file: browserFile, args: browserArguments(folder) }),
  tools: ['browser_navigate', 'browser_snapshot', 'browser_take_screenshot'],
  async use(caller, mark) {
    const { callTool } = calling(caller);
    const url = `data:text/html,<title>${mark}</title><button>Press ${mark}</button>`;
    expect(textOf(await callTool('browser_navigate', { url }))).toContain(mark);
    expect(textOf(await callTool('browser_snapshot'))).toContain(`button "Press ${mark}"`);
    expect(textOf(await callTool('browser_close'))).not.toContain(mark);
  },
};

/** All of them, by what they are called here and in the note. */
export const realServers = {
  everything,
  filesystem,
  memory,
  'sequential-thinking': sequentialThinking,
  'mcp-hello-world': helloWorld,
  'mcp-server-commands': commands,
  'basic-vanillajs': app,
  ...(process.env.CHROMIUM_PATH ? { playwright: browser } : {}),
} satisfies Record<string, RealServer>;

/** supergateway before the server of files, answering by `transport`. */
const supergateway = (transport: string, path: string, more: string[] = []): RealHttpServer => ({
  ...filesystem,
  start: (folder, port) => ({
    file: 'supergateway/dist/index.js',
    args: [
      ...['--stdio', `${process.execPath} ${join(modules, filesystemFile)} ${folder}`],
      ...['--outputTransport', transport, '--port', `${port}`, ...more],
    ],
    path,
  }),
});

/** Those that are reached by URL; how each is spoken to is found out. */
export const realHttpServers: Record<string, RealHttpServer> = {
  'everything, Streamable HTTP': {
    ...everything,
    start: (_folder, port) => ({
      file: everythingFile,
      args: ['streamableHttp'],
      env: { PORT: `${port}` },
      path: '/mcp',
    }),
  },
  'everything, HTTP+SSE': {
    ...everything,
    start: (_folder, port) => ({
      file: everythingFile,
      args: ['sse'],
      env: { PORT: `${port}` },
      path: '/sse',
    }),
  },
  'basic-vanillajs, Streamable HTTP without sessions': {
    ...app,
    start: (_folder, port) => ({ file: appFile, args: [], env: { PORT: `${port}` }, path: '/mcp' }),
  },
  'supergateway, HTTP+SSE': supergateway('sse', '/sse'),
  'supergateway, Streamable HTTP with sessions': supergateway('streamableHttp', '/mcp', ['--stateful']),
  'supergateway, Streamable HTTP without sessions': supergateway('streamableHttp', '/mcp'),
  'mcp-proxy before memory': {
    ...memory,
    start: (folder, port) => ({
      file: 'mcp-proxy/dist/bin/mcp-proxy.mjs',
      args: ['--port', `${port}`, '--host', '127.0.0.1', '--', process.execPath, join(modules, memoryFile)],
      env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
      path: '/mcp',
    }),
  },
  ...(process.env.CHROMIUM_PATH
    ? {
        'playwright, Streamable HTTP': {
          ...browser,
          start: (folder: string, port: number) => ({
            file: browserFile,
            args: [...browserArguments(folder), '--port', `${port}`],
            path: '/mcp',
          }),
        },
      }
    : {}),
};

function calling(caller: Caller) {
  return {
    callTool: (name: string, given: Record<string, unknown> = {}): Promise<object> =>
      caller.callTool({ name, arguments: given }),
  };
}
