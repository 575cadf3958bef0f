import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createBrowserStub } from '../../../support/browser-stub.ts';
import { type Program, runProgram } from '../../../support/program.ts';
import { commandLine, runGatehouse } from '../../../support/served.ts';

/** Somebody at a machine of their own, whose browser consents to everything by itself. */
export interface Victim {
  env: Record<string, string>;
  /** The folder the logins are kept in. */
  home: string;
  /** Runs `gatehouse <args>` to its end. */
  run(...args: string[]): ReturnType<typeof runGatehouse>;
  /** Starts `gatehouse <args>`, standard input open; it is stopped at the end of the running test. */
  start(...args: string[]): Program;
  /** Starts `gatehouse login`, and gives it once it waits for the browser, with the URL for that. */
  startLogin(mcpUrl: string, ...options: string[]): Promise<{ login: Program; url: string }>;
  /** Logs in, and gives what was printed. */
  login(mcpUrl: string, ...options: string[]): Promise<{ code: number | null; stderr: string }>;
  /** The URL a browser was started with; undefined where none was. */
  openedUrl(): string | undefined;
}

/** Makes the machine; it is gone at the end of the running test. */
export async function createVictim(): Promise<Victim> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-victim-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const browser = await createBrowserStub(folder);
  const home = join(folder, 'home');
  const env = { GATEHOUSE_HOME: home, BROWSER: browser.program };
  const start = (...args: string[]): Program => {
    const program = runProgram(commandLine, args, { env });
    onTestFinished(() => program.stop());
    return program;
  };
  const startLogin: Victim['startLogin'] = async (mcpUrl, ...options) => {
    const login = start('login', mcpUrl, '--no-browser', ...options);
    login.process.stdin?.end();
    const [, url = ''] = await login.waitFor('stderr', /^Open this URL: (\S+)$/m);
    return { login, url };
  };
  return {
    env,
    home,
    start,
    run: (...args) => runGatehouse(args, { env }),
    startLogin,
    async login(mcpUrl, ...options) {
      const { login, url } = await startLogin(mcpUrl, ...options);
      await fetch(url);
      return { code: await login.ended, stderr: login.written.stderr };
    },
    openedUrl: () => {
      try {
        return readFileSync(join(browser.folder, 'opened'), 'utf8').trim();
      } catch {
        return undefined;
      }
    },
  };
}
