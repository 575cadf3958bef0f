import { join } from 'node:path';
import { expect } from 'vitest';
import type { GatehouseOptions } from '../../../src/index.ts';
import type { RunningGatehouse } from '../../support/gatehouse.ts';
import { approve, authorization, type Flow, register, type Tokens } from '../../support/oauth.ts';
import { type Program, runProgram } from '../../support/program.ts';
import { placeOf } from '../../support/test-storage.ts';
import type { Visitor } from '../../support/visitor.ts';

const often = { times: 100_000, windowSeconds: 60 };

/** Limits that no test of anything else runs into. */
export const generousLimits: GatehouseOptions['limits'] = {
  registrations: often,
  authorizations: often,
  tokenFailures: often,
  tokensPerGrant: often,
  refreshesWithoutCall: often,
  requests: often,
  loginsPerAccountAndAddress: often,
  loginsPerAccount: often,
  loginsPerAddress: often,
};

/** Expects a refusal of the token endpoint as RFC 6749 section 5.2 has it, without a token anywhere in it. */
export async function expectRefused(response: Response, error: string, status = 400): Promise<void> {
  const text = await response.text();
  const body = JSON.parse(text) as Record<string, unknown>;
  expect({ status: response.status, error: body.error }, text).toEqual({ status, error });
  expect(response.headers.get('cache-control')).toContain('no-store');
  expect(response.headers.getSetCookie()).toEqual([]);
  expect(String(body.error_description)).toMatch(/^[\x20-\x7E]+$/);
  expect(Object.keys(body).filter((name) => name.endsWith('_token'))).toEqual([]);
}

/** Expects tokens and gives them. */
export async function expectTokens(response: Response): Promise<Tokens> {
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text) as Tokens;
}

/** A registered client with a code that waits to be redeemed. */
export async function obtainCode(
  gatehouse: Pick<RunningGatehouse, 'url' | 'mcpUrl'>,
  clientId?: string,
  visitor?: Visitor,
  { scope, scopes }: { scope?: string; scopes?: string[] } = {},
): Promise<{ flow: Flow; code: string }> {
  const asked = scope === undefined ? {} : { scope };
  const flow = authorization(gatehouse, clientId ?? (await register(gatehouse.url)).client_id, asked);
  const callback = await approve(flow, { ...(visitor && { visitor }), ...(scopes && { scopes }) });
  return { flow, code: callback.searchParams.get('code') ?? '' };
}

/** How many answers had which status. */
export function countStatuses(responses: readonly Response[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** A port for other processes on the installation, which every one of several needs. */
export const nodePort = { cluster: { port: 0 } } as const;

/**
 * Another process that serves the same installation under the same public URL, on a port of its own.
 * @param config its config file, with {@link nodePort}; one with that alone by default
 */
export async function serveAlongside(
  { folder, url: publicUrl }: Pick<RunningGatehouse, 'folder' | 'url'>,
  config?: string,
): Promise<{ url: string; mcpUrl: string; program: Program }> {
  const place =
    config === undefined ? await placeOf(folder, nodePort) : ['--data', folder, '--config', config];
  const program = runProgram(
    join('src', 'cli', 'main.ts'),
    ['serve', '--port', '0', '--json', '--public-url', publicUrl, ...place],
    { input: '' },
  );
  const [, port] = await program.waitFor('stdout', /"port": (\d+)/);
  const url = `http://localhost:${port}`;
  return { url, mcpUrl: `${url}/mcp`, program };
}
