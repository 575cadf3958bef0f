import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { build } from 'vite';
import { startBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { ada } from '../support/gatehouse.ts';
import type { ClientProgram, Session } from './program.ts';
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

/** Logs in and allows in a page that is, or will be, at the authorization server. */
async function logInOn(page: Page, at: Workplace): Promise<void> {
  await page.waitForURL((url) => url.href.startsWith(at.place.issuer));
  const password = page.locator('input[name=password]');
  const allow = page.locator('button[name=decision][value=allow]');
  await password.or(allow).first().waitFor();
  if (await password.isVisible()) {
    await page.locator('input[name=email]').fill(ada.email);
    await password.fill(ada.password);
    await password.press('Enter');
  }
  await allow.click();
  at.person.countLogin();
}

/** Logs in and allows in each window that a page opens at the authorization server. */
function attend(context: BrowserContext, at: Workplace): void {
  // A window that the program closes itself needs nobody.
  context.on('page', (popup: Page) => void logInOn(popup, at).catch(() => undefined));
}

/** How long a page of the Inspector may take to show what follows, and how often it is looked at, in milliseconds. */
const [inspectorMs, lookEveryMs] = [60_000, 100];

/** Opens the Inspector in a browser, at the URL that its start prints. Its port stays, as it does where people have it. */
async function openInspector(at: Workplace): Promise<Session> {
  const kept = join(at.home, 'inspector-port');
  const port = await readFile(kept, 'utf8').catch(async () => String(await freePort()));
  await writeFile(kept, port);
  const started = at.start('mcp-inspector', ['--web', '--server-url', at.url, '--transport', at.transport], {
    CLIENT_PORT: port,
    MCP_SANDBOX_PORT: String(await freePort()),
    MCP_AUTO_OPEN_ENABLED: 'false',
    MCP_INSPECTOR_SECRET_STORE: 'file',
  });
  const [url] = await started.waitFor(/http:\/\/\S+/);
  const browser = await startBrowser();
  const page = await browser.newPage();
  page.setDefaultTimeout(inspectorMs);
  await page.goto(url);
  const connected = page.getByRole('button', { name: 'Disconnect from server' });
  const closeResults = page.getByRole('button', { name: 'Close results' });
  const read = (): Promise<string> => page.locator('body').innerText();

  /** Waits until the page shows something. @returns false if it led to the authorization server, where the person logged in */
  async function shows(what: (text: string) => boolean | Promise<boolean>): Promise<boolean> {
    const until = Date.now() + inspectorMs;
    while (Date.now() < until) {
      if (page.url().startsWith(at.place.issuer)) {
        await logInOn(page, at);
        await page.waitForURL((to) => !to.href.startsWith(at.place.issuer));
        return false;
      }
      const text = await read().catch(() => '');
      if (await what(text)) return true;
      const [failure] = /(?:Tool Call Failed|Failed to connect|Cannot connect)[\s\S]{0,400}/.exec(text) ?? [];
      if (failure !== undefined) throw new Error(failure.replaceAll('\n', ' '));
      await pause(lookEveryMs);
    }
    throw new Error(`the page shows: ${(await read()).replaceAll('\n', ' ').slice(-1200)}`);
  }

  async function connect(): Promise<void> {
    if (!(await connected.isVisible())) await page.getByRole('switch').first().dispatchEvent('click');
    if (!(await shows(() => connected.isVisible()))) await shows(() => connected.isVisible());
  }

  /** Runs the tool, and again after a login that it leads to. */
  async function call(text: string, tries = 2): Promise<string> {
    await connect();
    await page.getByRole('radio', { name: 'Tools' }).dispatchEvent('click');
    // The results of the call before stand in the place of the form.
    if (await closeResults.isVisible()) await closeResults.click();
    await page.getByText('add_note').first().click();
    await page.getByRole('textbox', { name: 'text' }).first().fill(text);
    await page.getByRole('button', { name: 'Execute Tool' }).click();
    if (await shows((shown) => shown.includes(text))) return read();
    if (tries === 1) throw new Error('it asked for a login again and again');
    return call(text, tries - 1);
  }

  return {
    call: (text) => call(text),
    async close() {
      await browser.close();
      await started.stop();
    },
  };
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
  {
    name: 'inspector-web',
    title: 'MCP Inspector (web, in Chromium)',
    packages: ['@modelcontextprotocol/inspector@latest'],
    transports: ['http', 'sse'],
    open: openInspector,
  },
];
