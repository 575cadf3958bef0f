/**
 * Makes the pictures of a report for the README, docs/doctor.png and docs/doctor-dark.png: `gatehouse doctor` examines a
 * server with two faults, and Chromium shows what it wrote on a terminal of 100 columns.
 *
 *     node scripts/picture-doctor.ts
 */
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { chromium } from 'playwright-core';
import { listen } from '../test/doctor/support/http.ts';
import { routeNames, startServer, type TestServer } from '../test/doctor/support/server.ts';

const root = join(import.meta.dirname, '..');
const shownUrl = 'http://127.0.0.1:3000';

/** Colours of a terminal by the styles that the command line paints with. */
const schemes = {
  light: {
    page: '#ffffff',
    bar: '#eceff2',
    edge: '#d0d7de',
    text: '#1f2328',
    dim: '#656d76',
    red: '#cf222e',
    green: '#1a7f37',
    yellow: '#8a5a00',
    cyan: '#0b6a80',
  },
  dark: {
    page: '#0d1117',
    bar: '#161b22',
    edge: '#30363d',
    text: '#e6edf3',
    dim: '#8b949e',
    red: '#ff7b72',
    green: '#56d364',
    yellow: '#e3b341',
    cyan: '#76e3ea',
  },
} as const;

/** Takes away the field that leads clients to the login, which much depends on, and leaves a lesser fault. */
function spoil(server: TestServer): void {
  server.change(routeNames.mcp, (reply) => {
    const { 'www-authenticate': _gone, ...headers } = reply.headers ?? {};
    return { ...reply, headers };
  });
  for (const name of [routeNames.protectedResource, routeNames.protectedResourceAtRoot])
    server.publish(name, { scopes_supported: ['notes:read', 'offline_access'] });
}

/** What the command writes when a person watches. */
function report(url: string): Promise<string> {
  const child = spawn(process.execPath, ['src/cli/main.ts', 'doctor', url], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: '/nonexistent', FORCE_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return new Promise((resolve) => child.once('close', () => resolve(text)));
}

/** Writes text with SGR sequences as HTML. */
function toHtml(text: string): string {
  const classes: Readonly<Record<string, string>> = {
    1: 'bold',
    2: 'dim',
    31: 'red',
    32: 'green',
    33: 'yellow',
    36: 'cyan',
  };
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of a terminal begin with one
  return escaped.replace(/\u001b\[(\d+)m/g, (_whole, code: string) =>
    classes[code] === undefined ? '</span>' : `<span class="${classes[code]}">`,
  );
}

function page(text: string, scheme: keyof typeof schemes): string {
  const c = schemes[scheme];
  return `<!doctype html><meta charset="utf-8"><style>
    body { margin: 0; background: ${c.page}; }
    main { display: inline-block; border: 1px solid ${c.edge}; border-radius: 8px; overflow: hidden; color: ${c.text}; background: ${c.page}; }
    header { background: ${c.bar}; border-bottom: 1px solid ${c.edge}; padding: 8px 14px; }
    header i { display: inline-block; width: 11px; height: 11px; border-radius: 50%; background: ${c.edge}; margin-right: 6px; }
    pre { margin: 0; padding: 16px 20px; font: 14px/1.4 "DejaVu Sans Mono", Menlo, Consolas, monospace; }
    .bold { font-weight: bold } .dim { color: ${c.dim} } .red { color: ${c.red} } .green { color: ${c.green} }
    .yellow { color: ${c.yellow} } .cyan { color: ${c.cyan} }
  </style><main><header><i></i><i></i><i></i></header><pre>${toHtml(text)}</pre></main>`;
}

let stop = (): Promise<void> => Promise.resolve();
const server = await startServer({
  fault: spoil,
  listen: async (answer) => {
    const listening = await listen(answer);
    stop = listening.stop;
    return listening.origin;
  },
});
const written = await report(server.url);
await stop();
const shown = `\u001b[2m$\u001b[22m \u001b[1mgatehouse doctor ${shownUrl}/mcp\u001b[22m\n\n${written
  .replaceAll(server.origin, shownUrl)
  .replaceAll('scripts/gatehouse', 'gatehouse')
  .trimEnd()}`;
process.stdout.write(`${stripVTControlCharacters(shown)}\n`);

const executablePath = execFileSync(join(root, 'scripts/find-chromium'), { encoding: 'utf8' }).trim();
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
for (const scheme of ['light', 'dark'] as const) {
  const tab = await browser.newPage({ deviceScaleFactor: 1.25, viewport: { width: 1000, height: 900 } });
  await tab.setContent(page(shown, scheme));
  const path = join(root, 'docs', scheme === 'light' ? 'doctor.png' : 'doctor-dark.png');
  await tab.locator('main').screenshot({ path });
}
await browser.close();
