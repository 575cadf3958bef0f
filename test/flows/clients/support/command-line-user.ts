import { expect } from 'vitest';
import { exitCodes } from '../../../../src/cli/cli-error.ts';
import { type Decision, decide } from '../../../support/person.ts';
import { runProgram } from '../../../support/program.ts';
import { commandLine, runGatehouse } from '../../../support/served.ts';

/**
 * A user of the machine who works with our command line, with logins of their own.
 * @param mcpUrl the MCP server the user works with
 * @param home where the logins are kept
 */
export function commandLineUser(mcpUrl: string, home: string) {
  const env = { GATEHOUSE_HOME: home };
  const call = (tool: string, args: object = {}) =>
    runGatehouse(['call', mcpUrl, tool, JSON.stringify(args), '--json'], { env });
  return {
    env,
    /** `gatehouse call`, whatever comes of it. */
    call,
    /** `gatehouse login`, its person reading the URL from the terminal. */
    async login(decision: Decision = {}, options: string[] = []) {
      const args = ['login', mcpUrl, '--no-browser', '--json', ...options];
      const client = runProgram(commandLine, args, { env, input: '' });
      const [, url = ''] = await client.waitFor('stderr', /^Open this URL: (\S+)$/m);
      const page = await fetch(await decide(url, decision));
      return { code: await client.ended, page: await page.text(), ...client.written };
    },
    /** `gatehouse call`, which has to succeed; gives the structured content. */
    async answerOf(tool: string, args: object = {}) {
      const { code, stdout, stderr } = await call(tool, args);
      expect(code, stderr).toBe(exitCodes.ok);
      return (JSON.parse(stdout) as { structuredContent: Record<string, unknown> }).structuredContent;
    },
  };
}
