import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAdministration } from '../../../../src/index.ts';
import { openPostgresInstallation } from '../../../../src/storage/postgres/index.ts';
import { generateMasterKey } from '../../../../src/storage/postgres/open-installation.ts';
import { type Balancer, startBalancer } from '../../../support/balancer.ts';
import { compiledProgram } from '../../../support/compiled-programs.ts';
import { ada } from '../../../support/gatehouse.ts';
import { type Program, repository, runExecutable, runProgram } from '../../../support/program.ts';

/** A node in a process of its own. */
export interface NodeProcess {
  program: Program;
  /** `host:port` at which it listens. */
  listensAt: { host: string; port: number };
  /** Ends it without warning. */
  kill(): Promise<void>;
  /** Starts it again at the same port. */
  restart(): Promise<void>;
}

/**
 * Nodes of an installation behind a balancer without stickiness. Each is a process whose program uses the library, with a
 * server of the tests. The account is {@link ada}.
 */
export interface NodeProcesses {
  balancer: Balancer;
  url: string;
  mcpUrl: string;
  nodes: NodeProcess[];
  /** Labels of the slow tool's runs at all nodes. */
  runs(): string[];
  /** Works on the installation beside its nodes. */
  administer<T>(work: (administration: ReturnType<typeof createAdministration>) => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

/** Options of {@link startNodeProcesses}. */
export interface NodeProcessesOptions {
  database: string;
  count: number;
  /** `slow` has a tool that takes its time; `echo` is the server of the crosstalk. */
  server: 'slow' | 'echo';
  /** Network namespace and address of the nodes, by their index; loopback of this machine without one. */
  place?: (index: number) => { namespace: string | undefined; host: string; database: string } | undefined;
}

const nodeProgram = compiledProgram(join(repository, 'test/flows/cluster/support/node.ts'));

/** Starts nodes; the first creates the tables. */
export async function startNodeProcesses(options: NodeProcessesOptions): Promise<NodeProcesses> {
  const { database, count, server, place } = options;
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-nodes-'));
  const runsFile = join(folder, 'runs');
  const masterKey = generateMasterKey();
  const balancer = await startBalancer();

  async function launch(index: number, port: number): Promise<{ program: Program; port: number }> {
    const { namespace, host = '127.0.0.1', database: seenAs = database } = place?.(index) ?? {};
    const args = [nodeProgram, host, String(port), balancer.url, ...(server === 'slow' ? [runsFile] : [])];
    const env = { DATABASE_URL: seenAs, MASTER_KEY: masterKey };
    const program =
      namespace === undefined
        ? runProgram(nodeProgram, args.slice(1), { input: '', env })
        : runExecutable('ip', ['netns', 'exec', namespace, process.execPath, ...args], { input: '', env });
    const [, listening] = await program.waitFor('stdout', /"port":(\d+)/);
    return { program, port: Number(listening) };
  }

  async function startNode(index: number): Promise<NodeProcess> {
    const { program, port } = await launch(index, 0);
    const host = place?.(index)?.host ?? '127.0.0.1';
    const node: NodeProcess = {
      program,
      listensAt: { host, port },
      async kill() {
        node.program.process.kill('SIGKILL');
        await node.program.ended;
      },
      async restart() {
        ({ program: node.program } = await launch(index, port));
      },
    };
    return node;
  }

  const nodes: NodeProcess[] = [];
  const administer: NodeProcesses['administer'] = async (work) => {
    const location = { postgres: database, masterKey: { env: 'KEY' }, poolSize: 2, pooled: false };
    const data = await openPostgresInstallation(location, folder, { KEY: masterKey });
    try {
      return await work(createAdministration(data));
    } finally {
      await data.storage.close();
    }
  };
  await administer(({ accounts }) => accounts.add(ada.email, ada.password));
  for (let index = 0; index < count; index++) nodes.push(await startNode(index));
  for (const { listensAt } of nodes) {
    balancer.ports.push(listensAt.port);
    balancer.hosts.set(listensAt.port, listensAt.host);
  }
  return {
    balancer,
    url: balancer.url,
    mcpUrl: `${balancer.url}/mcp`,
    nodes,
    runs: () => (existsSync(runsFile) ? readFileSync(runsFile, 'utf8').trim().split('\n') : []),
    administer,
    async stop() {
      balancer.close();
      await Promise.all(nodes.map(({ program }) => program.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
