// Flows of src/cli/commands/operator/storage.ts: an installation moves to PostgreSQL and back while its server is stopped.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exitCodes } from '../../../src/cli/cli-error.ts';
import { testFolderForFile } from '../../support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { ada, type RunningGatehouse } from '../../support/gatehouse.ts';
import { authorization, obtainTokens, refresh, type Tokens, tryAccess } from '../../support/oauth.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { type Program, runProgram } from '../../support/program.ts';
import { commandLine, runGatehouse } from '../../support/served.ts';
import { createVisitor } from '../../support/visitor.ts';
import type { Restartable } from './support/restartable.ts';
import { openSession } from './support/session.ts';

const postgres = usePostgres();
const folder = testFolderForFile();

/** Writes a config file in a folder of its own. */
function configOf(name: string, settings: object): string {
  mkdirSync(join(folder, name), { recursive: true });
  const file = join(folder, name, 'gatehouse.json');
  writeFileSync(file, JSON.stringify({ ...settings, dangerously: { trustOtherPorts: true } }));
  return file;
}

/** Starts the server of a config file at a port. */
async function serve(config: string, port: number): Promise<Program> {
  const program = runProgram(commandLine, ['serve', '--port', String(port), '--json', '--config', config], {
    input: '',
    env: { GATEHOUSE_ACCOUNT_EMAIL: ada.email, GATEHOUSE_ACCOUNT_PASSWORD: ada.password },
  });
  onTestFinished(() => program.stop());
  await program.waitFor('stdout', /\{[\s\S]*\n\}/);
  return program;
}

async function copy(from: string, to: string): Promise<void> {
  const { code, stderr } = await runGatehouse(['storage', 'copy', '--from', from, '--to', to]);
  expect([code, stderr]).toEqual([exitCodes.ok, '']);
}

describe('an installation that moves to PostgreSQL and back', () => {
  it('keeps logins, tokens, MCP sessions and its audit log, and is refused at the place that it left', async () => {
    const port = await freePort();
    const url = `http://localhost:${port}`;
    const gatehouse = { url, mcpUrl: `${url}/mcp` } as RunningGatehouse;
    const first = configOf('first', { data: 'data' });
    const second = configOf('second', {
      data: 'node',
      storage: { postgres: await postgres().createDatabase() },
    });
    const third = configOf('third', { data: 'data' });

    let server = await serve(first, port);
    const visitor = createVisitor();
    const { clientId, tokens } = await obtainTokens(gatehouse, { visitor });
    const session = await openSession({
      mcpUrl: gatehouse.mcpUrl,
      token: tokens.access_token,
    } as Restartable);
    await server.stop();

    /** Uses what was issued before, and refreshes. */
    async function goOn({ access_token, refresh_token }: Tokens): Promise<Tokens> {
      expect(await tryAccess(gatehouse.mcpUrl, access_token)).toBe(200);
      const used = await session.post({ jsonrpc: '2.0', id: 7, method: 'ping' });
      expect([used.status, (await used.text()).includes('"id":7')]).toEqual([200, true]);
      const page = await visitor.open(authorization(gatehouse, clientId).url);
      expect(page.html).toContain('name="decision"');
      expect(page.html).not.toContain('name="password"');
      const refreshed = await refresh(url, clientId, refresh_token);
      expect(refreshed.status).toBe(200);
      return (await refreshed.json()) as Tokens;
    }

    await copy(join(folder, 'first/data'), second);
    const refused = await runGatehouse(['serve', '--port', '0', '--config', first]);
    expect([refused.code, refused.stderr]).toEqual([
      exitCodes.cannotServe,
      expect.stringContaining('This installation has moved to the PostgreSQL database'),
    ]);

    server = await serve(second, port);
    const atPostgres = await goOn(tokens);
    const used = await runGatehouse([
      'storage',
      'copy',
      '--from',
      second,
      '--to',
      join(folder, 'third/data'),
    ]);
    expect([used.code, used.stderr]).toEqual([
      exitCodes.cannotServe,
      expect.stringContaining('The database is in use by a server on '),
    ]);
    expect(existsSync(join(folder, 'third/data'))).toBe(false);
    await server.stop();

    await copy(second, third);
    await serve(third, port);
    await goOn(atPostgres);
    const verified = await runGatehouse(['audit', 'verify', '--config', third]);
    expect([verified.code, verified.stderr]).toEqual([exitCodes.ok, '']);
  });
});
