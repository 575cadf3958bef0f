import { freePort } from '../../../support/free-port.ts';
import { runProgram } from '../../../support/program.ts';

/** The authorization servers of others in `test/peers`. */
export const peerNames = ['sdk-v1', 'oidc-provider', 'better-auth', 'workers-oauth-provider'] as const;

/** One of {@link peerNames}. */
export type PeerName = (typeof peerNames)[number];

/** A peer in a process of its own. */
export interface Peer {
  /** URL of the MCP server that it protects. */
  mcpUrl: string;
  /** What the MCP server answers to a ping with this access token, as a status. */
  ping(accessToken: string): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a peer on free ports, as an operator would: libraries know when they are tested. */
export async function startPeer(name: PeerName): Promise<Peer> {
  const [port, issuerPort] = [await freePort(), await freePort()];
  const program = runProgram(`test/peers/${name}.ts`, [], {
    env: { PORT: `${port}`, ISSUER_PORT: `${issuerPort}`, NODE_ENV: 'development' },
    input: '',
  });
  const [mcpUrl] = await program.waitFor('stdout', /^http\S+\/mcp$/m);
  return {
    mcpUrl,
    async ping(accessToken) {
      const response = await fetch(mcpUrl, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${accessToken}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      });
      await response.body?.cancel();
      return response.status;
    },
    stop: () => program.stop(),
  };
}
