import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { build } from 'vite';
import { startBrowser } from '../support/browser.ts';
import { ada } from '../support/gatehouse.ts';
import type { ClientProgram } from './program.ts';
import type { Workplace } from './workplace.ts';

const types: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.html': 'text/html' };

/** What is kept of a page for when it is opened again. */
interface Kept {
  port: number;
  storageState?: Awaited<ReturnType<BrowserContext['storageState']>>;
}

/** Serves a built page on loopback; every path without a file is the page. */
async function servePage(folder: string, wanted: number): Promise<{ port: number; stop(): void }> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const file = extname(pathname) === '' ? 'index.html' : pathname;
    const content = await readFile(join(folder, file)).catch(() => undefined);
    if (content)
      response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' }).end(content);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(wanted, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Logs in and allows in each window that a page opens at the authorization server. */
function attend(context: BrowserContext, at: Workplace): void {
  context.on('page', (popup: Page) => {
    const act = async (): Promise<void> => {
      await popup.waitForURL((url) => url.href.startsWith(at.place.issuer));
      const password = popup.locator('input[name=password]');
      const allow = popup.locator('button[name=decision][value=allow]');
      await password.or(allow).first().waitFor();
      if (await password.isVisible()) {
        await popup.locator('input[name=email]').fill(ada.email);
        await password.fill(ada.password);
        await password.press('Enter');
      }
      await allow.click();
      at.person.countLogin();
    };
    // A window that the program closes itself needs nobody.
    act().catch(() => undefined);
  });
}

/** Programs that run in a page, in a real Chromium. */
export const pages: readonly ClientProgram[] = [
  {
    name: 'use-mcp',
    title: 'use-mcp (in Chromium)',
    packages: ['use-mcp@latest', 'react@^19', 'react-dom@^19'],
    transports: ['http', 'sse'],
    async open(at) {
      const built = join(at.home, 'page');
      await build({
        root: join(at.installed, 'hosts/use-mcp'),
        logLevel: 'error',
        configFile: false,
        base: '/',
        build: { outDir: built, emptyOutDir: true },
      });
      // A page that is opened again is at its origin, and finds what it stored there.
      const kept = join(at.home, 'kept.json');
      const before = JSON.parse(await readFile(kept, 'utf8').catch(() => '{"port":0}')) as Kept;
      const server = await servePage(built, before.port);
      const browser = await startBrowser();
      const context = await browser.newContext(
        before.storageState === undefined ? {} : { storageState: before.storageState },
      );
      const page = await context.newPage();
      attend(context, at);
      const query = new URLSearchParams({ url: at.url, transport: at.transport });
      await page.goto(`http://localhost:${server.port}/?${query}`);
      return {
        async call(text) {
          await page.waitForFunction('["ready", "failed"].includes(window.mcp?.state)', undefined, {
            timeout: 120_000,
          });
          const result = await page.evaluate(
            `window.mcp.state === 'ready' ? window.mcp.callTool('add_note', { text: ${JSON.stringify(text)} }) : Promise.reject(new Error(window.mcp.error))`,
          );
          return JSON.stringify(result);
        },
        signOut: {
          name: 'clearStorage()',
          async act() {
            await page.evaluate('window.mcp.clearStorage()');
          },
        },
        async close() {
          const storageState = await context.storageState();
          await writeFile(kept, JSON.stringify({ port: server.port, storageState } satisfies Kept));
          await browser.close();
          server.stop();
        },
      };
    },
  },
];
