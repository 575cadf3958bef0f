// Flows of src/mcp/peers.ts and src/mcp/modern/bridged-call.ts: a call of 2026-07-28 that waits for input at one of them.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { describe, expect, it } from 'vitest';
import type { GatehouseOptions } from '../../../src/index.ts';
import { modernRequest, type RpcAnswer, readAnswer } from '../../mcp/support/gate.ts';
import { obtainBoundTokens } from '../../support/bound-tokens.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { startNodes } from '../../support/postgres/nodes.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { createProver } from '../../support/proofs.ts';

const server = usePostgres();

/** A server of the older revisions whose tool waits in the call for what it asks, and then for a while. */
function createWaitingServer(seen: { ran: number; cancelled: number }): McpServer {
  const waiting = new McpServer({ name: 'waiting', version: '1' });
  waiting.registerTool('ask', {}, async ({ signal }) => {
    seen.ran++;
    let isAnswered = false;
    signal.addEventListener('abort', () => {
      if (!isAnswered) seen.cancelled++;
    });
    const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } };
    const { content } = await waiting.server.elicitInput({ message: 'Your name?', requestedSchema });
    const name = String(content?.name);
    const ms = { slow: 20_000, unhurried: 2_000 }[name] ?? 0;
    await new Promise((resolve) => setTimeout(resolve, ms).unref());
    isAnswered = true;
    return { content: [{ type: 'text', text: `hello ${name}` }] };
  });
  return waiting;
}

type Result = NonNullable<RpcAnswer['result']>;

async function start(options: Partial<GatehouseOptions> = {}) {
  const seen = { ran: 0, cancelled: 0 };
  const two = await startNodes(await server().createDatabase(), 2, {
    server: () => createWaitingServer(seen),
    ...options,
  });
  const tokens = (await obtainTokens(two, { scopes: ['mcp'], scope: 'mcp' })).tokens.access_token;
  const ports = two.nodes.map(({ listensAt }) => Number(new URL(listensAt).port));
  /** Calls the tool at a node. */
  const call = async (
    at: number,
    more: object = {},
    sent: RequestInit = {},
    token = tokens,
  ): Promise<Response> => {
    two.balancer.only(ports[at]);
    const { headers, json } = modernRequest('tools/call', { name: 'ask', arguments: {}, ...more });
    const { params } = json as { params: { _meta: object } };
    Object.assign(params._meta, {
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    });
    return fetch(two.mcpUrl, {
      method: 'POST',
      body: JSON.stringify(json),
      ...sent,
      headers: {
        ...headers,
        ...{ accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
        authorization: `Bearer ${token}`,
        ...sent.headers,
      },
    });
  };
  const resultOf = async (response: Response): Promise<Result> => (await readAnswer(response)).result ?? {};
  /** What a client sends again, with the input that was asked for. */
  const inputFor = ({ requestState, inputRequests }: Result, name: string): object => ({
    requestState,
    inputResponses: Object.fromEntries(
      Object.keys(inputRequests as object).map((key) => [key, { action: 'accept', content: { name } }]),
    ),
  });
  return { two, seen, call, resultOf, inputFor };
}

describe('a call of 2026-07-28 that waits for input at one node', () => {
  it('goes on with the input that reaches the other node, and runs once (C4-06)', async () => {
    const { seen, call, resultOf, inputFor } = await start();
    for (const [at, other] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const asked = await resultOf(await call(at));
      expect(asked.resultType).toBe('input_required');
      const done = await resultOf(await call(other, inputFor(asked, `ada ${at}`)));
      expect(done.content).toEqual([{ type: 'text', text: `hello ada ${at}` }]);
    }
    expect(seen).toEqual({ ran: 2, cancelled: 0 });
  });

  it('goes on for its own client alone: another one learns nothing of it, nor which node has it (C4-03, T-129)', async () => {
    const { two, call, resultOf, inputFor } = await start();
    const asked = await resultOf(await call(0));
    for (const { address, id } of (await two.nodes[0]?.storage.nodes.list()) ?? [])
      for (const secret of [address, id]) expect(String(asked.requestState)).not.toContain(secret);
    const { tokens } = await obtainTokens(two, { scopes: ['mcp'], scope: 'mcp' });
    const stolen = await readAnswer(await call(1, inputFor(asked, 'eve'), {}, tokens.access_token));
    expect(stolen.error?.message).toContain('requestState is not valid');
    const done = await resultOf(await call(1, inputFor(asked, 'ada')));
    expect(done.content).toEqual([{ type: 'text', text: 'hello ada' }]);
  });

  it('is cancelled there when its client goes away from the other node (B5-14)', async () => {
    const { seen, call, resultOf, inputFor } = await start();
    const asked = await resultOf(await call(0));
    const leaving = new AbortController();
    const waiting = await call(1, inputFor(asked, 'slow'), { signal: leaving.signal });
    expect([waiting.status, seen.cancelled]).toEqual([200, 0]);
    leaving.abort();
    await expect.poll(() => seen.cancelled).toBe(1);
  });

  it('runs to its end also if the node that forwards the input stops meanwhile', async () => {
    const { two, seen, call, resultOf, inputFor } = await start();
    const asked = await resultOf(await call(0));
    const waiting = await call(1, inputFor(asked, 'unhurried'));
    const stopped = two.nodes[1]?.stop(60_000);
    const done = await resultOf(waiting);
    expect(done.content).toEqual([{ type: 'text', text: 'hello unhurried' }]);
    expect(seen).toEqual({ ran: 1, cancelled: 0 });
    await stopped;
  });

  it('is gone with its node, and the client is told to send it again', async () => {
    const { two, call, resultOf, inputFor } = await start();
    const asked = await resultOf(await call(0));
    await two.nodes[0]?.stop();
    const lost = async () => (await readAnswer(await call(1, inputFor(asked, 'ada')))).error?.message;
    await expect
      .poll(lost, { timeout: 10_000, interval: 200 })
      .toMatch(/requestState is not valid .* Send the request without it\./);
    expect((await resultOf(await call(1))).resultType).toBe('input_required');
  });

  it('takes input with a proof of possession, which counts once over both nodes (A13-09)', async () => {
    const { two, call, resultOf, inputFor } = await start();
    const prover = await createProver();
    const bound = await obtainBoundTokens(two, prover, { parameters: { scope: 'mcp' }, scopes: ['mcp'] });
    const accessToken = bound.tokens.access_token;
    const proven = async (): Promise<RequestInit> => ({
      headers: {
        authorization: `DPoP ${accessToken}`,
        dpop: await prover.prove({ url: two.mcpUrl, accessToken }),
      },
    });
    const asked = await resultOf(await call(0, {}, await proven()));
    const proof = await proven();
    const done = await resultOf(await call(1, inputFor(asked, 'ada'), proof));
    expect(done.content).toEqual([{ type: 'text', text: 'hello ada' }]);
    for (const at of [0, 1]) expect((await call(at, {}, proof)).status).toBe(401);
  });
});
