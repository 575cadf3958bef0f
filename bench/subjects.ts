import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { obtainAccessToken } from './gatehouse-token.ts';
import { type PeerToken, signPeerToken } from './peer-token.ts';
import { type ServerProcess, startServer, waitUntil } from './server-process.ts';

/** A server that is measured, ready for requests. */
export interface Subject {
  server: ServerProcess;
  /** Its MCP endpoint. */
  url: string;
  /** A token it takes. */
  token: string;
}

/** What can be measured. */
export const subjectNames = [
  'gatehouse',
  'koa',
  'session floor',
  'sdk1 session',
  'sdk1 stateless',
  'sdk2 node',
  'sdk2 express',
  'sdk2 hono',
  'sdk2 fastify',
  'sdk2 session',
] as const;

/** One of {@link subjectNames}. */
export type SubjectName = (typeof subjectNames)[number];

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

let signed: Promise<PeerToken> | undefined;

/** The token of this run that all peers take. */
export function peerToken(): Promise<PeerToken> {
  signed ??= signPeerToken();
  return signed;
}

/** The program of a peer. */
export function peerProgram(name: string): string {
  return here(`peers/${name}.ts`);
}

/**
 * Starts a server and waits until it answers.
 * @param folder for its data and output
 * @param how further options of node, whether Gatehouse keeps sessions, and more variables of the program
 */
export async function startSubject(
  name: SubjectName,
  folder: string,
  {
    nodeOptions = [],
    sessions = 'stored',
    env = {},
  }: {
    nodeOptions?: readonly string[];
    sessions?: 'stored' | 'none';
    env?: Record<string, string>;
  } = {},
): Promise<Subject> {
  const { token, keys } = await peerToken();
  const [program = '', variant] = name.split(' ');
  const isPeer = program.startsWith('sdk');
  const file = isPeer ? peerProgram(program) : here(`servers/${name.replace(' ', '-')}.ts`);
  const data = await mkdtemp(join(folder, 'data-'));
  const server = await startServer(
    folder,
    [...nodeOptions, file, ...(isPeer && variant !== undefined ? [variant] : [])],
    { PEER_KEYS: keys, FOLDER: data, SESSIONS: sessions, ...env },
  );
  const origin = `http://127.0.0.1:${server.port}`;
  try {
    await waitUntil(server, async () => (await fetch(`${origin}/mcp`, { method: 'POST' })).status > 0);
    return {
      server,
      url: `${origin}/mcp`,
      token: name === 'gatehouse' ? await obtainAccessToken(origin, ['mcp']) : token,
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
