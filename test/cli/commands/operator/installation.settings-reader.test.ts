import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadSettingsReader } from '../../../../src/cli/commands/operator/installation.ts';
import { runProgram } from '../../../support/program.ts';
import { sourceCommandLine } from '../../../support/served.ts';
import { newInstallation } from '../../support/installation.ts';

/** Runs a command, and gives the packages of npm that it loaded. */
async function packagesOf(...args: string[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-loads-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const watcher = join(folder, 'watcher.mjs');
  writeFileSync(
    watcher,
    `import { registerHooks } from 'node:module';
     registerHooks({
       resolve(specifier, context, next) {
         const found = next(specifier, context);
         const name = /^.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(found.url)?.[1];
         if (name) process.stderr.write('loads ' + name + '\\n');
         return found;
       },
     });`,
  );
  const program = runProgram(sourceCommandLine, args, {
    input: '',
    env: { NODE_OPTIONS: `--import=${watcher}` },
  });
  expect(await program.ended).toBe(0);
  return [...new Set([...program.written.stderr.matchAll(/^loads (.+)$/gm)].map(([, name]) => name ?? ''))];
}

describe('what reads config files', () => {
  it('is there for who needs settings', async () => {
    const { loadSome } = await loadSettingsReader();
    expect(loadSome(undefined, ['listen']).listen.port).toBe(3000);
  });

  it.each(['account list', 'client list', 'grant list', 'keys list', 'audit list'])(
    'is not loaded by gatehouse %s with --data',
    async (command) => {
      const loaded = await packagesOf(...command.split(' '), '--data', await newInstallation());
      expect(loaded).toContain('better-sqlite3');
      expect(loaded).not.toContain('zod');
      expect(loaded).not.toContain('pino');
    },
  );

  it('is loaded where the settings say where the data is', async () => {
    const config = join(await newInstallation(), 'gatehouse.json');
    writeFileSync(config, JSON.stringify({ data: '.' }));
    expect(await packagesOf('account', 'list', '--config', config)).toContain('zod');
  });
});
