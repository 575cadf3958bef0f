import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../../../support/program.ts';
import { commandLine, runGatehouse } from '../../../support/served.ts';
import { sayYes } from './person.ts';

/** What the token file keeps of a login, as far as these tests look. */
export interface KeptLogin {
  accessToken: string;
  refreshToken?: string;
  expiresAt: number;
  renewAt?: number;
}

/**
 * A user of our command line at a peer, with logins of their own.
 * @param mcpUrl the MCP server the user works with
 * @param home where the logins are kept
 */
export function peerUser(mcpUrl: string, home: string) {
  const env = { GATEHOUSE_HOME: home };
  const file = join(home, 'tokens.json');
  const read = async () =>
    JSON.parse(await readFile(file, 'utf8')) as { credentials: Record<string, KeptLogin> };
  return {
    /** Any command, to its end. */
    run: (...args: string[]) => runGatehouse(args, { env }),
    /** `gatehouse login --no-browser`, its URL opened by a person; gives the port the answer came to, too. */
    async login() {
      const program = runProgram(commandLine, ['login', mcpUrl, '--no-browser', '--json'], {
        env,
        input: '',
      });
      const [, url = ''] = await program.waitFor('stderr', /^Open this URL: (\S+)$/m);
      const answer = await sayYes(url);
      await fetch(answer);
      return { port: Number(answer.port), code: await program.ended, ...program.written };
    },
    /** The one login that is kept. */
    async kept(): Promise<KeptLogin> {
      const [login, ...more] = Object.values((await read()).credentials);
      if (login === undefined || more.length > 0) throw new Error('not one login is kept');
      return login;
    },
    /** Lets the access token of every login end. */
    async letTokenEnd(): Promise<void> {
      const content = await read();
      for (const login of Object.values(content.credentials)) {
        login.expiresAt = 1;
        login.renewAt = 1;
      }
      await writeFile(file, JSON.stringify(content));
    },
  };
}
