import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ServerProcess, startServer, waitUntil } from './server-process.ts';
import { peerProgram } from './subjects.ts';

/** How clients speak with an authorization server; paths are those of its origin. */
export interface IssuerWays {
  authorize: string;
  token: string;
  register: string;
  metadata: string;
  redirectUri: string;
  /** What is asked for; everything the resource has where it is left out. */
  scope?: string;
  /** The scopes a person leaves ticked; absent where a session and a client are given at `/bench/login`. */
  consent?: readonly string[];
  /** The resource indicator, a URL or a path of the origin; absent where none is sent. */
  resource?: string;
}

/** An authorization server that is measured, ready for requests. */
export interface Issuer {
  server: ServerProcess;
  origin: string;
  ways: IssuerWays;
}

interface Program {
  file: string;
  variant?: readonly string[];
  ways: IssuerWays;
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const loopback = 'http://127.0.0.1:53682/callback';

function oidcProvider(...variant: string[]): Program {
  return {
    file: peerProgram('oidc-provider'),
    variant,
    ways: {
      authorize: '/auth',
      token: '/token',
      register: '/reg',
      metadata: '/.well-known/openid-configuration',
      redirectUri: 'https://client.example.com/callback',
      scope: 'mcp:tools',
      resource: 'https://mcp.example.com/mcp',
    },
  };
}

const programs = {
  gatehouse: {
    file: here('servers/gatehouse.ts'),
    ways: {
      authorize: '/authorize',
      token: '/token',
      register: '/register',
      metadata: '/.well-known/oauth-authorization-server',
      redirectUri: loopback,
      consent: ['mcp'],
      resource: '/mcp',
    },
  },
  'oidc-provider FULL': oidcProvider('FULL', 'jwt'),
  'oidc-provider FULL, opaque': oidcProvider('FULL', 'opaque'),
  'oidc-provider NORMAL': oidcProvider('NORMAL', 'jwt'),
  'better-auth NORMAL': {
    file: peerProgram('better-auth'),
    variant: ['NORMAL'],
    ways: {
      authorize: '/api/auth/oauth2/authorize',
      token: '/api/auth/oauth2/token',
      register: '/api/auth/oauth2/register',
      metadata: '/api/auth/.well-known/oauth-authorization-server',
      redirectUri: loopback,
      scope: 'offline_access mcp:tools',
    },
  },
} as const satisfies Record<string, Program>;

/** The authorization servers that can be measured; the word behind a name is what SQLite waits for at a commit. */
export type IssuerName = keyof typeof programs;

/** All of {@link IssuerName}. */
export const issuerNames = Object.keys(programs) as readonly IssuerName[];

/**
 * Starts an authorization server and waits until it serves its metadata.
 * @param folder for its data and output
 * @param env more variables of its program
 */
export async function startIssuer(
  name: IssuerName,
  folder: string,
  env: Record<string, string> = {},
): Promise<Issuer> {
  const { file, ways, variant = [] }: Program = programs[name];
  const data = await mkdtemp(join(folder, 'data-'));
  const server = await startServer(folder, [file, ...variant], { FOLDER: data, ...env });
  const origin = `http://127.0.0.1:${server.port}`;
  try {
    await waitUntil(server, async () => (await fetch(`${origin}${ways.metadata}`)).status === 200);
    return { server, origin, ways };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
