import { spawnSync } from 'node:child_process';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A place for a node whose way to the database can be cut, so that no packet of it arrives. */
export interface CutPlace {
  /** Undefined if the node is not in a network namespace of its own. */
  namespace: string | undefined;
  /** Address of the node. */
  host: string;
  /** URL of the database as the node sees it. */
  database: string;
  cut(): void;
  mend(): void;
  close(): void;
}

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { encoding: 'utf8' }).status === 0;
}

/** Starts a relay of TCP connections. It drops everything silently while it is cut. */
export async function startTcpRelay(
  host: string,
  port: number,
): Promise<{ port: number; setCut(is: boolean): void; close(): void }> {
  let isCut = false;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => {
        if (!isCut) to.write(bytes);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        if (!isCut) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    setCut(is) {
      isCut = is;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/**
 * Prepares a place. If this process may, it is a network namespace, and a rule of its firewall cuts the way; otherwise a relay
 * that drops silently.
 * @param database URL of the database on loopback
 */
export async function prepareCutPlace(database: string): Promise<CutPlace> {
  const { port, pathname } = new URL(database);
  const seenAt = (host: string, at: number): string =>
    `postgres://gatehouse@${host}:${at}${pathname}?sslmode=disable`;
  const namespace = `gatehouse-${process.pid}`;
  const subnet = `10.213.${process.pid % 250}`;
  const [outside, inside] = [`gh${process.pid}a`, `gh${process.pid}b`];
  const within = (...args: string[]): boolean => run('ip', 'netns', 'exec', namespace, ...args);
  const hasNamespace =
    process.getuid?.() === 0 &&
    run('ip', 'netns', 'add', namespace) &&
    run('ip', 'link', 'add', outside, 'type', 'veth', 'peer', 'name', inside) &&
    run('ip', 'link', 'set', inside, 'netns', namespace) &&
    run('ip', 'addr', 'add', `${subnet}.1/24`, 'dev', outside) &&
    run('ip', 'link', 'set', outside, 'up') &&
    within('ip', 'addr', 'add', `${subnet}.2/24`, 'dev', inside) &&
    within('ip', 'link', 'set', inside, 'up') &&
    within('ip', 'link', 'set', 'lo', 'up') &&
    within('iptables', '-N', 'database') &&
    within('iptables', '-A', 'INPUT', '-j', 'database') &&
    within('iptables', '-A', 'OUTPUT', '-j', 'database');
  if (!hasNamespace) {
    run('ip', 'netns', 'del', namespace);
    const relay = await startTcpRelay('127.0.0.1', Number(port));
    return {
      ...{ namespace: undefined, host: '127.0.0.1', database: seenAt('127.0.0.1', relay.port) },
      cut: () => relay.setCut(true),
      mend: () => relay.setCut(false),
      close: () => relay.close(),
    };
  }
  const relay = await startTcpRelay(`${subnet}.1`, Number(port));
  return {
    ...{ namespace, host: `${subnet}.2`, database: seenAt(`${subnet}.1`, relay.port) },
    cut() {
      for (const flag of ['--dport', '--sport'])
        within('iptables', '-A', 'database', '-p', 'tcp', flag, String(relay.port), '-j', 'DROP');
    },
    mend: () => void within('iptables', '-F', 'database'),
    close() {
      relay.close();
      run('ip', 'netns', 'del', namespace);
    },
  };
}
