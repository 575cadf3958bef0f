import { Readable } from 'node:stream';
import type { CommandIo } from '../../../src/cli/output.ts';
import type { Credential } from '../../../src/client/index.ts';
import { createTokenFile } from '../../../src/client/node/index.ts';
import { startOfTime } from '../../client/support/context.ts';
import { testCredential, testRegistration } from '../../client/support/credentials.ts';
import { testFolder } from '../../client/support/folder.ts';
import { startAuthorizationServer, startMcpServer } from '../../client/support/protected-server.ts';

/** Surroundings of a command that collect what it writes. */
export function testIo(options: { input?: string; env?: Record<string, string> } = {}) {
  const home = testFolder();
  const written = { stdout: '', stderr: '' };
  const collect = (stream: keyof typeof written) => ({
    write: (text: string): void => {
      written[stream] += text;
    },
  });
  const io: CommandIo = {
    stdin: Readable.from(options.input === undefined ? [] : [options.input]),
    stdout: collect('stdout'),
    stderr: collect('stderr'),
    env: { GATEHOUSE_HOME: home, GATEHOUSE_STORE: 'plain', ...options.env },
    fetch: globalThis.fetch,
    now: () => startOfTime,
  };
  return { io, home, written };
}

/** An MCP server with its authorization server, and a user who is logged in to it. */
export async function startLoggedIn(
  options: Parameters<typeof startMcpServer>[1] = {},
  credential: Partial<Credential> = {},
) {
  const as = await startAuthorizationServer();
  const mcp = await startMcpServer(as, options);
  const surroundings = testIo();
  const store = createTokenFile(surroundings.home);
  as.accessTokens.add('at');
  await store.saveRegistration(testRegistration({ issuer: as.origin }));
  await store.saveCredential(
    mcp.url,
    testCredential({ issuer: as.origin, resource: mcp.url, refreshToken: undefined, ...credential }),
  );
  return { as, mcp, store, ...surroundings };
}
