import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { agents } from './agents.ts';
import { pages } from './pages.ts';
import type { ClientProgram, Session } from './program.ts';
import type { Workplace } from './workplace.ts';

/** Opens an app around a library: a script of test/clients/hosts that was copied beside what is installed. */
async function openHost(at: Workplace, script: string, args: readonly string[]): Promise<Session> {
  const host = at.start(process.execPath, [join(at.installed, 'hosts', script), ...args]);
  await host.waitFor(/READY/);
  return {
    async call(text) {
      host.write(`${text}\n`);
      const [, kind, rest = ''] = await host.waitFor(/(RESULT|ERROR) (.*)\n/);
      if (kind === 'ERROR') throw new Error(rest);
      return rest;
    },
  };
}

/** Opens a bridge that speaks MCP over standard input and output, as desktop hosts start it. */
async function openBridge(at: Workplace, args: readonly string[]): Promise<Session> {
  const transport = new StdioClientTransport({
    command: join(at.installed, 'node_modules/.bin/mcp-remote'),
    args: [at.url, ...args],
    env: { ...at.env },
    cwd: at.home,
    stderr: 'pipe',
  });
  let said = '';
  transport.stderr?.on('data', (chunk) => {
    said += String(chunk);
    at.person.read(String(chunk));
  });
  const client = new Client({ name: 'a desktop host', version: '1' });
  let isConnected = false;
  return {
    async call(text) {
      try {
        if (!isConnected) await client.connect(transport, { timeout: 60_000 });
        isConnected = true;
        return JSON.stringify(
          await client.callTool({ name: 'add_note', arguments: { text } }, { timeout: 45_000 }),
        );
      } catch (error) {
        throw new Error(`${(error as Error).message}: ${said.slice(-1200)}`);
      }
    },
    close: () => client.close(),
  };
}

const sdk = (version: 'v1' | 'v2') => (at: Workplace) =>
  openHost(at, 'sdk.mjs', [version, at.url, at.transport]);

const libraries: readonly ClientProgram[] = [
  {
    name: 'sdk-1.7.0',
    title: 'TypeScript SDK 1.7.0 (March 2025)',
    packages: ['@modelcontextprotocol/sdk@1.7.0'],
    transports: ['sse'],
    open: sdk('v1'),
  },
  {
    name: 'sdk-1.10.2',
    title: 'TypeScript SDK 1.10.2 (April 2025)',
    packages: ['@modelcontextprotocol/sdk@1.10.2'],
    transports: ['http', 'sse'],
    open: sdk('v1'),
  },
  {
    name: 'sdk-1',
    title: 'TypeScript SDK v1',
    packages: ['@modelcontextprotocol/sdk@^1.32'],
    transports: ['http', 'sse'],
    open: sdk('v1'),
  },
  {
    name: 'sdk-2',
    title: 'TypeScript SDK v2',
    packages: ['@modelcontextprotocol/client@^2.4'],
    transports: ['http', 'sse'],
    open: sdk('v2'),
  },
  {
    name: 'ai-sdk',
    title: 'AI SDK',
    packages: ['@ai-sdk/mcp@latest'],
    transports: ['http', 'sse'],
    open: (at) => openHost(at, 'ai-sdk.mjs', [at.url, at.transport]),
  },
  {
    name: 'langchain',
    title: 'LangChain MCP adapters',
    packages: ['@langchain/mcp-adapters@latest', '@langchain/core@latest'],
    transports: ['http', 'sse'],
    open: (at) => openHost(at, 'langchain.mjs', [at.url, at.transport]),
  },
  {
    name: 'mastra',
    title: 'Mastra',
    packages: ['@mastra/mcp@latest', '@mastra/core@latest'],
    transports: ['http'],
    settings: {
      clients: {
        preRegistered: [
          {
            clientId: 'mastra',
            name: 'An app with Mastra',
            authMethod: 'none',
            redirectUris: ['http://127.0.0.1/callback'],
          },
        ],
      },
    },
    open: (at) => openHost(at, 'mastra.mjs', [at.url, 'mastra']),
  },
];

const tools: readonly ClientProgram[] = [
  {
    name: 'mcp-remote-0.1.18',
    title: 'mcp-remote 0.1.18 (July 2025)',
    packages: ['mcp-remote@0.1.18'],
    transports: ['http', 'sse'],
    open: (at) => openBridge(at, at.transport === 'sse' ? ['--transport', 'sse-only'] : []),
  },
  {
    name: 'mcp-remote',
    title: 'mcp-remote',
    packages: ['mcp-remote@latest'],
    transports: ['http', 'sse'],
    open: (at) => openBridge(at, at.transport === 'sse' ? ['--transport', 'sse-only'] : []),
  },
  {
    name: 'mcporter',
    title: 'mcporter',
    packages: ['mcporter@latest'],
    transports: ['http', 'sse'],
    cannot: {
      expired:
        'it registers anew when its port changes, and its refresh token belongs to the client before (FA-53)',
    },
    async open(at) {
      const config = join(at.home, 'mcporter.json');
      await writeFile(
        config,
        JSON.stringify({ mcpServers: { notes: { url: at.url, auth: 'oauth' } }, imports: [] }),
      );
      return {
        call: (text) => at.run('mcporter', ['--config', config, 'call', 'notes.add_note', `text=${text}`]),
      };
    },
  },
  {
    name: 'mcpc',
    title: 'mcpc',
    packages: ['@apify/mcpc@latest'],
    transports: ['http'],
    async open(at) {
      let isConnected = false;
      // Its bridge has five seconds to start, which a busy machine exceeds: a person would try again.
      const connect = async (tries = 6): Promise<void> => {
        try {
          await at.run('mcpc', ['connect', at.url, '@notes']);
        } catch (error) {
          if (tries === 1 || !(error as Error).message.includes('failed to start')) throw error;
          await connect(tries - 1);
        }
      };
      return {
        async logIn() {
          await at.run('mcpc', ['login', at.url]);
        },
        async call(text) {
          if (!isConnected) await connect();
          isConnected = true;
          return at.run('mcpc', ['@notes', 'tools-call', 'add_note', `text:=${text}`]);
        },
        async close() {
          await at.run('mcpc', ['close', '@notes']).catch(() => undefined);
        },
      };
    },
  },
  {
    name: 'inspector',
    title: 'MCP Inspector (command line)',
    packages: ['@modelcontextprotocol/inspector@latest'],
    transports: ['http', 'sse'],
    async open(at) {
      const common = ['--cli', at.url, '--transport', at.transport, '--method', 'tools/call'];
      return {
        call: (text) =>
          at.run('mcp-inspector', [...common, '--tool-name', 'add_note', '--tool-arg', `text=${text}`], {
            env: { MCP_AUTO_OPEN_ENABLED: 'true', MCP_INSPECTOR_SECRET_STORE: 'file' },
          }),
      };
    },
  },
];

/** Every program that `scripts/test --clients` knows, in the order of the table. */
export const programs: readonly ClientProgram[] = [...libraries, ...pages, ...tools, ...agents];
