import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../../src/cli/cli-error.ts';
import { runGatehouse } from '../../support/served.ts';

let folder: string;
let program: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-local-'));
  program = join(folder, 'server.mjs');
  // It lists one tool, named after what it was given.
  await writeFile(
    program,
    `import { createInterface } from 'node:readline';
const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  const name = [process.env.API_KEY, ...process.argv.slice(2)].join(' ');
  if (method === 'initialize')
    say({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'l', version: '1' } } });
  else if (method === 'tools/list') say({ id, result: { tools: [{ name, inputSchema: { type: 'object' } }] } });
  else if (id !== undefined) say({ id, error: { code: -32601, message: 'no' } });
}`,
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a server that is a program', () => {
  const toolsOf = async (args: string): Promise<unknown> => {
    const line = `${process.execPath} ${program} ${args}`;
    const env = { GATEHOUSE_HOME: join(folder, 'home'), API_KEY: 'of the environment' };
    const { code, stdout, stderr } = await runGatehouse(['tools', line, '--transport', 'stdio', '--json'], {
      env,
    });
    expect(code, stderr).toBe(exitCodes.ok);
    return (JSON.parse(stdout) as { tools: { name: string }[] }).tools.map(({ name }) => name);
  };

  it('has its credentials from the environment: nobody logs in, and no login is made or read (A1-02)', async () => {
    expect(await toolsOf('')).toEqual(['of the environment']);
    await expect(access(join(folder, 'home'))).rejects.toThrow('ENOENT');
  });

  it('is started without a shell, from exactly the words that were typed', async () => {
    const bait = join(folder, 'bait');
    const words = `$(touch ${bait}) ; touch ${bait} && 'two words'`;
    expect(await toolsOf(words)).toEqual([
      `of the environment $(touch ${bait}) ; touch ${bait} && two words`,
    ]);
    await expect(access(bait)).rejects.toThrow('ENOENT');
  });

  it('is started only where that is asked for: elsewhere a command line is no URL', async () => {
    const bait = join(folder, 'bait');
    const refused = await runGatehouse(['tools', `touch ${bait}`]);
    expect(refused.code, refused.stderr).toBe(exitCodes.usage);
    await expect(access(bait)).rejects.toThrow('ENOENT');
  });
});
