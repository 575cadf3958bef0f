import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { BrowserStub } from '../../../support/browser-stub.ts';
import { nodeProgram } from '../../../support/node-program.ts';
import { repository } from '../../../support/program.ts';

const mcpRemote = join(repository, 'node_modules/mcp-remote/dist/proxy.js');

/**
 * Starts mcp-remote as desktop hosts do: a command that speaks MCP over standard input and output.
 * @param folder its home, with its logins
 * @param browser what it finds where it looks for a browser
 */
export function startBridge(mcpUrl: string, folder: string, browser: BrowserStub, options: string[] = []) {
  const transport = new StdioClientTransport({
    ...nodeProgram(mcpRemote, mcpUrl, ...options),
    env: {
      PATH: `${browser.folder}:${process.env.PATH}`,
      BROWSER: browser.program,
      HOME: folder,
      MCP_REMOTE_CONFIG_DIR: join(folder, 'mcp-remote'),
    },
    stderr: 'pipe',
  });
  let said = '';
  transport.stderr?.on('data', (chunk) => {
    said += String(chunk);
  });
  const client = new Client({ name: 'a desktop host', version: '1' });
  return { client, connect: () => client.connect(transport), said: () => said };
}

/** Follows a link as a browser does, to any port: mcp-remote takes it from the URL of the server, also one that `fetch` refuses. */
async function follow(link: URL): Promise<{ status: number | undefined }> {
  const [answer] = (await once(get(link), 'response')) as [IncomingMessage];
  await once(answer.resume(), 'end');
  return { status: answer.statusCode };
}

/**
 * Brings mcp-remote the answer of the authorization server, as the browser does. Where it had tokens that are refused, it
 * opens the browser before it listens for the answer; a person takes longer than that.
 * @param callback where the browser is sent
 */
export async function bringAnswer(callback: URL): Promise<{ status: number | undefined }> {
  for (let tries = 150; ; tries--) {
    try {
      return await follow(callback);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED' || tries === 0) throw error;
      await sleep(100);
    }
  }
}
