import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ada } from './gatehouse.ts';
import { repository, runProgram } from './program.ts';

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
  /** Adds an account with the operator's command. */
  addAccount(person: { email: string; password: string }): Promise<void>;
  /** Disables an account with the operator's command. */
  disableAccount(email: string): Promise<void>;
  stop(): Promise<void>;
}

/** The command line's entry. */
export const commandLine = join(repository, 'src/cli/main.ts');

/** Runs `gatehouse <args>` to its end, with standard input empty or as given. */
export async function runGatehouse(
  args: readonly string[],
  options: { env?: Record<string, string>; input?: string } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const program = runProgram(commandLine, args, { input: '', ...options });
  const code = await program.ended;
  return { code, ...program.written };
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
  await writeFile(config, JSON.stringify(settings));
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
    async addAccount({ email, password }) {
      const { code, stderr } = await runGatehouse(
        ['account', 'add', email, '--password-stdin', '--data', folder],
        {
          input: password,
        },
      );
      if (code !== 0) throw new Error(`account add: ${stderr}`);
    },
    async disableAccount(email) {
      const { code, stderr } = await runGatehouse(['account', 'disable', email, '--data', folder]);
      if (code !== 0) throw new Error(`account disable: ${stderr}`);
    },
    async stop() {
      await program.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
