import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAdministration } from '../../../../src/index.ts';
import { ada, type RunningGatehouse } from '../../../support/gatehouse.ts';
import { obtainTokens } from '../../../support/oauth.ts';
import { type Program, runProgram } from '../../../support/program.ts';
import { openState } from '../../../support/test-storage.ts';

/** A process of `program.ts` that may be ended and started again at the same place. */
export interface Restartable {
  mcpUrl: string;
  /** An access token of {@link ada}. */
  token: string;
  /** Obtains an access token of {@link ada} for another path. */
  tokenFor(path: '/rest' | '/sse'): Promise<string>;
  /** Labels of the slow tool's runs, all processes together. */
  runs(): string[];
  /** Sends a signal and waits for the end; gives the exit code. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
  start(): Promise<void>;
}

/**
 * Adds {@link ada} to a data folder and starts a gatehouse over it.
 * @param patienceMs for how long running calls may go on when it is asked to stop
 */
export async function startRestartable(
  folder: string,
  sharing: 'each' | 'shared',
  patienceMs = 0,
): Promise<Restartable> {
  const data = await openState(folder);
  await createAdministration(data).accounts.add(ada.email, ada.password);
  await data.storage.close();
  let program: Program;
  let port = '0';
  const start = async (): Promise<void> => {
    program = runProgram('test/flows/restart/support/program.ts', [
      folder,
      port,
      sharing,
      String(patienceMs),
    ]);
    const [, listening = ''] = await program.waitFor('stdout', /"port":(\d+)/);
    port = listening;
  };
  await start();
  const url = `http://localhost:${port}`;
  const gatehouse = { url, mcpUrl: `${url}/mcp` } as RunningGatehouse;
  const { tokens } = await obtainTokens(gatehouse, { scopes: ['mcp'], scope: 'mcp' });
  return {
    mcpUrl: gatehouse.mcpUrl,
    token: tokens.access_token,
    async tokenFor(path) {
      const issued = await obtainTokens({ url, mcpUrl: `${url}${path}` }, { scopes: ['mcp'], scope: 'mcp' });
      return issued.tokens.access_token;
    },
    runs: () => {
      const file = join(folder, 'runs');
      return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    },
    end(signal) {
      program.process.kill(signal);
      return program.ended;
    },
    start,
  };
}
