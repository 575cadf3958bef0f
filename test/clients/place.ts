import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ada } from '../support/gatehouse.ts';
import { nodeProgram } from '../support/node-program.ts';
import { type Program, runProgram } from '../support/program.ts';
import { commandLine, runGatehouse } from '../support/served.ts';
import { type Exchange, startRecorder } from './recorder.ts';

/** Where a program finds its MCP server. */
export type PlaceName = 'one' | 'second' | 'prefix';

/** A real `gatehouse serve` on loopback, with a recorder in front of it. */
export interface Place {
  name: PlaceName;
  /** The MCP URL for Streamable HTTP. */
  mcpUrl: string;
  /** The MCP URL for HTTP+SSE. */
  sseUrl: string;
  issuer: string;
  /** The words on the consent page that name the server at this place. */
  serverName: string;
  /** The beginning of each result of the tool at this place. */
  answersWith: string;
  /** Everything that was asked, in order. */
  exchanges: readonly Exchange[];
  /** Stops the server, and starts it again over the same data. */
  restart(): Promise<void>;
  /** Revokes every grant with the operator's command. @returns how many there were */
  revokeGrants(): Promise<number>;
  /** Its log, JSON lines. */
  log(): string;
  stop(): Promise<void>;
}

interface Shape {
  /** The path of the public URL. */
  prefix: string;
  /** The path before `/mcp`, below the prefix. */
  below: string;
  serverName: string;
  answersWith: string;
  settings: object;
}

// One process for all sessions: programs that ask their model before a server has started find the tools at their second try.
const backend = (route: string) => ({
  name: route,
  backend: { ...nodeProgram('test/clients/backend.ts', route), process: 'shared' },
});

const shapes: Readonly<Record<PlaceName, Shape>> = {
  one: { prefix: '', below: '', serverName: 'Gatehouse', answersWith: '', settings: {} },
  second: {
    prefix: '',
    below: '/second',
    serverName: 'Second',
    answersWith: 'Second: ',
    settings: { routes: { first: backend('First'), second: backend('Second') } },
  },
  prefix: { prefix: '/tools', below: '', serverName: 'Gatehouse', answersWith: '', settings: {} },
};

/**
 * Starts a Gatehouse at a place, with the account of the tests and a data folder of its own.
 * @param settings over those of the place
 */
export async function startPlace(name: PlaceName, settings: object = {}): Promise<Place> {
  const shape = shapes[name];
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-clients-'));
  const config = join(folder, 'gatehouse.json');
  const recorder = await startRecorder();
  const issuer = `${recorder.url}${shape.prefix}`;
  await writeFile(config, JSON.stringify({ publicUrl: issuer, ...shape.settings, ...settings }));

  const start = async (): Promise<Program> => {
    const program = runProgram(
      commandLine,
      ['serve', '--port', '0', '--json', '--data', folder, '--config', config],
      {
        input: '',
        env: { GATEHOUSE_ACCOUNT_EMAIL: ada.email, GATEHOUSE_ACCOUNT_PASSWORD: ada.password },
      },
    );
    const [, port] = await program.waitFor('stdout', /"port": (\d+)[\s\S]*\n\}/);
    recorder.relayTo(Number(port));
    return program;
  };
  const operate = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runGatehouse([...args, '--data', folder, '--json']);
    if (code !== 0) throw new Error(`gatehouse ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  let program = await start();
  return {
    name,
    mcpUrl: `${issuer}${shape.below}/mcp`,
    sseUrl: `${issuer}${shape.below}/sse`,
    issuer,
    serverName: shape.serverName,
    answersWith: shape.answersWith,
    exchanges: recorder.exchanges,
    async restart() {
      await program.stop();
      program = await start();
    },
    async revokeGrants() {
      const grants = JSON.parse(await operate('grant', 'list')) as { id: string }[];
      for (const { id } of grants) await operate('grant', 'revoke', id);
      return grants.length;
    },
    log: () => program.written.stderr,
    async stop() {
      await recorder.stop();
      await program.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
