import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A program that stands where a browser would: it keeps the URL it was started with, and opens nothing. */
export interface BrowserStub {
  /** The program, for `BROWSER`. */
  program: string;
  /** A folder for `PATH` in which every name a browser or its opener has is this program. */
  folder: string;
  /** Waits for the URL. */
  opened(): Promise<string>;
  /** Returns the last URL, or nothing yet. */
  latest(): Promise<string>;
}

const openers = ['xdg-open', 'open', 'gio', 'x-www-browser', 'sensible-browser'];
const patienceMs = 20_000;

/** Writes the program into a folder. */
export async function createBrowserStub(parent: string): Promise<BrowserStub> {
  const folder = join(parent, 'browser-stub');
  const urlFile = join(folder, 'opened');
  await mkdir(folder, { recursive: true });
  for (const name of ['browser', ...openers]) {
    const path = join(folder, name);
    await writeFile(path, `#!/bin/sh\nfor last; do :; done\nprintf '%s\\n' "$last" > '${urlFile}'\n`);
    await chmod(path, 0o755);
  }
  const latest = async (): Promise<string> => {
    const text = await readFile(urlFile, 'utf8').catch(() => '');
    return text.endsWith('\n') ? text.trim() : '';
  };
  return {
    program: join(folder, 'browser'),
    folder,
    latest,
    async opened() {
      const until = Date.now() + patienceMs;
      while (Date.now() < until) {
        const url = await latest();
        if (url !== '') return url;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error('no browser was opened');
    },
  };
}
