import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAdministration } from '../../src/index.ts';
import { compiledProgram } from './compiled-programs.ts';
import { ada } from './gatehouse.ts';
import { repository, runProgram } from './program.ts';
import { openState, storageSettings } from './test-storage.ts';

/** A second account, for tests of two people. */
export const grace = { email: 'grace@example.com', password: 'a compiler of one’s own' };

/** A `gatehouse serve` in a process of its own, as an operator runs it. */
export interface Served {
  url: string;
  mcpUrl: string;
  /** Where it listens, on 127.0.0.1. */
  port: number;
  folder: string;
  /** What it logged so far, JSON lines. */
  log(): string;
  /** Adds an account, in another process than the server, as the operator's command does. */
  addAccount(person: { email: string; password: string }): Promise<void>;
  /** Disables an account in the same way. */
  disableAccount(email: string): Promise<void>;
  /** Removes an account in the same way. */
  removeAccount(email: string): Promise<void>;
  stop(): Promise<void>;
}

/** The source of the command line's entry, for tests that replace a part of it. */
export const sourceCommandLine = join(repository, 'src/cli/main.ts');

/** The command line's entry, as tests run it: compiled, if `scripts/test` has compiled it. */
export const commandLine = compiledProgram(sourceCommandLine);

/** Runs `gatehouse <args>` to its end, with standard input empty or as given. */
export async function runGatehouse(
  args: readonly string[],
  options: { env?: Record<string, string>; input?: string } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const program = runProgram(commandLine, args, { input: '', ...options });
  const code = await program.ended;
  return { code, ...program.written };
}

/** Works on a data folder beside its server, without the start of a program. */
async function administer(
  folder: string,
  work: (administration: ReturnType<typeof createAdministration>) => Promise<void>,
): Promise<void> {
  const data = await openState(folder);
  try {
    await work(createAdministration(data));
  } finally {
    await data.storage.close();
  }
}

/**
 * Starts `gatehouse serve` on a free port and a new data folder, with the account {@link ada}.
 * @param options further options of the command
 * @param settings what its config file says
 */
export async function serveGatehouse(
  options: readonly string[] = [],
  settings: object = {},
): Promise<Served> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-served-'));
  const config = join(folder, 'gatehouse.json');
  await writeFile(config, JSON.stringify({ ...settings, ...(await storageSettings(folder)) }));
  const program = runProgram(
    commandLine,
    ['serve', '--port', '0', '--json', '--data', folder, '--config', config, ...options],
    {
      input: '',
      env: { GATEHOUSE_ACCOUNT_EMAIL: ada.email, GATEHOUSE_ACCOUNT_PASSWORD: ada.password },
    },
  );
  const [text] = await program.waitFor('stdout', /\{[\s\S]*\n\}/);
  const { publicUrl, mcpUrl, port } = JSON.parse(text) as { publicUrl: string; mcpUrl: string; port: number };
  return {
    url: publicUrl,
    mcpUrl,
    port,
    folder,
    log: () => program.written.stderr,
    addAccount: ({ email, password }) =>
      administer(folder, async ({ accounts }) => void (await accounts.add(email, password))),
    disableAccount: (email) =>
      administer(folder, async ({ accounts }) => void (await accounts.disable(email))),
    removeAccount: (email) => administer(folder, async ({ accounts }) => void (await accounts.remove(email))),
    async stop() {
      await program.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
