import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'vitest';
import { ada, type RunningGatehouse } from '../../support/gatehouse.ts';
import { type Program, runProgram } from '../../support/program.ts';
import { commandLine } from '../../support/served.ts';
import { storageSettings } from '../../support/test-storage.ts';

/** A `gatehouse serve` that may be killed and started again at the same place. */
export interface Restartable {
  /** What flows need of a gatehouse. */
  at: RunningGatehouse;
  program(): Program;
  /** Kills it without warning. */
  kill(): Promise<void>;
  /** Starts it again on the same port and folder; gives the milliseconds until it answered. */
  restart(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Starts one over a folder, with the account {@link ada}.
 * @param settings what its config file says
 * @param env over the environment of the tests
 */
export async function startRestartable(
  folder: string,
  settings: object = {},
  env: Record<string, string> = {},
): Promise<Restartable> {
  const config = join(folder, 'gatehouse.json');
  await mkdir(folder, { recursive: true });
  await writeFile(config, JSON.stringify({ ...settings, ...(await storageSettings(folder)) }));
  const start = (port: number): Program =>
    runProgram(
      commandLine,
      ['serve', '--port', String(port), '--json', '--data', folder, '--config', config],
      {
        input: '',
        env: { GATEHOUSE_ACCOUNT_EMAIL: ada.email, GATEHOUSE_ACCOUNT_PASSWORD: ada.password, ...env },
      },
    );
  let program = start(0);
  const [, port = ''] = await program.waitFor('stdout', /"port": (\d+)[\s\S]*\n\}/);
  const url = `http://localhost:${port}`;
  return {
    at: { url, mcpUrl: `${url}/mcp`, folder } as RunningGatehouse,
    program: () => program,
    async kill() {
      program.process.kill('SIGKILL');
      await program.ended;
    },
    async restart() {
      const begun = performance.now();
      program = start(Number(port));
      await program.waitFor('stdout', /"port": \d+[\s\S]*\n\}/);
      return performance.now() - begun;
    },
    stop: () => program.stop(),
  };
}

/** Expects a database without damage and without rows that hang on nothing. */
export function expectIntact(folder: string): void {
  const database = new Database(join(folder, 'gatehouse.db'), { readonly: true });
  try {
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(database.pragma('foreign_key_check')).toEqual([]);
  } finally {
    database.close();
  }
}
