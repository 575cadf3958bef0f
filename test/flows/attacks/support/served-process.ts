import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ada } from '../../../support/gatehouse.ts';
import { runProgram } from '../../../support/program.ts';
import { commandLine } from '../../../support/served.ts';
import { countDatabaseBytes, storageSettings } from '../../../support/test-storage.ts';

/** A `gatehouse serve` whose memory and database are looked at while it is attacked. */
export interface ServedProcess {
  url: string;
  mcpUrl: string;
  /** Where it listens. */
  listensAt: string;
  /** Its resident memory, in bytes. */
  residentBytes(): number;
  /** Size of the database with its log, in bytes. */
  databaseBytes(): Promise<number>;
  /** What it logged so far, JSON lines. */
  log(): string[];
  stop(): Promise<void>;
}

/**
 * Starts one on a free port over a data folder of its own.
 * @param settings what its config file says
 * @param env over the environment of the tests
 */
export async function serveProcess(
  settings: object = {},
  env: Record<string, string> = {},
): Promise<ServedProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-attacked-'));
  const config = join(folder, 'gatehouse.json');
  await writeFile(config, JSON.stringify({ ...settings, ...(await storageSettings(folder)) }));
  const program = runProgram(
    commandLine,
    ['serve', '--port', '0', '--json', '--data', folder, '--config', config],
    {
      input: '',
      env: { ...env, GATEHOUSE_ACCOUNT_EMAIL: ada.email, GATEHOUSE_ACCOUNT_PASSWORD: ada.password },
    },
  );
  const [text] = await program.waitFor('stdout', /\{[\s\S]*\n\}/);
  const { publicUrl, mcpUrl, port } = JSON.parse(text) as { publicUrl: string; mcpUrl: string; port: number };
  return {
    url: publicUrl,
    mcpUrl,
    listensAt: `http://127.0.0.1:${port}`,
    residentBytes() {
      const status = readFileSync(`/proc/${program.process.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
    },
    databaseBytes: () => countDatabaseBytes(folder),
    log: () => program.written.stderr.split('\n').filter((line) => line.startsWith('{')),
    async stop() {
      await program.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
