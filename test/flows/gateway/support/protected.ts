import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ada } from '../../../support/gatehouse.ts';
import { nodeProgram } from '../../../support/node-program.ts';
import { processesWith } from '../../../support/processes.ts';
import { type Program, runProgram } from '../../../support/program.ts';
import { commandLine, runGatehouse } from '../../../support/served.ts';
import { placeOf } from '../../../support/test-storage.ts';

/** The command of the program behind the gate in these tests. */
export function backendCommand(...args: readonly string[]): string[] {
  const program = nodeProgram('test/support/backend/server.ts', ...args);
  return [program.command, ...program.args];
}

/** A `gatehouse protect` in a process of its own. */
export interface Protected {
  mcpUrl: string;
  program: Program;
  /** Processes of the backend that run, and their offspring. */
  processes(): number[];
  addAccount(person: { email: string; password: string }): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts `gatehouse protect` on a free port, with the account {@link ada}.
 * @param command the program and its arguments; the sound server of these tests by default
 */
export async function protect({
  options = [],
  command = backendCommand(),
  env = {},
}: {
  options?: readonly string[];
  command?: readonly string[];
  env?: Record<string, string>;
} = {}): Promise<Protected> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-protect-'));
  const mark = randomUUID();
  const program = runProgram(
    commandLine,
    [
      'protect',
      '--port',
      '0',
      '--json',
      ...(await placeOf(folder)),
      '--env',
      'BACKEND_MARK',
      ...options,
      '--',
      ...command,
    ],
    {
      input: '',
      env: {
        ...env,
        BACKEND_MARK: mark,
        GATEHOUSE_ACCOUNT_EMAIL: ada.email,
        GATEHOUSE_ACCOUNT_PASSWORD: ada.password,
      },
    },
  );
  const [json] = await program.waitFor('stdout', /\{[\s\S]*\n\}/);
  const { mcpUrl } = JSON.parse(json) as { mcpUrl: string };
  const { pid } = program.process;
  return {
    mcpUrl,
    program,
    processes: () => processesWith('BACKEND_MARK', mark).filter((one) => one !== pid),
    async addAccount({ email, password }) {
      const args = ['account', 'add', email, '--password-stdin', ...(await placeOf(folder))];
      const { code, stderr } = await runGatehouse(args, { input: password });
      if (code !== 0) throw new Error(`account add: ${stderr}`);
    },
    async stop() {
      program.process.kill('SIGTERM');
      await program.ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
