// Flows through src/cli/commands/server/protect.ts, src/composition/route-backend.ts,
// src/gateway/backends/stdio/stdio-backend.ts and src/gateway/backends/stdio/legacy-process.ts: a real program, real logins,
// the real clients of both SDKs.
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { grace } from '../../support/served.ts';
import { connectSdkV1 } from '../clients/support/sdk-v1.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';
import { backendCommand, type Protected, protect } from './support/protected.ts';

const scopes = ['mcp'];
const canary = 'canary-4711-in-the-gatehouse';
const token = 'token-of-the-operator';

/** What a tool of the backend said, out of its text. */
function said(result: unknown): Record<string, unknown> {
  const { content } = result as { content: { text: string }[] };
  return JSON.parse(content[0]?.text ?? '');
}

let gate: Protected;
beforeAll(async () => {
  gate = await protect({
    options: ['--name', 'Somebody else’s', '--env', 'API_TOKEN'],
    command: backendCommand('sound', '$HOME; echo `id`'),
    env: { API_TOKEN: token, CANARY: canary, AWS_SECRET_ACCESS_KEY: canary },
  });
  await gate.addAccount(grace);
});
afterAll(() => gate.stop());

describe('gatehouse protect', () => {
  it('gives a program a URL at which the SDK’s clients of both versions and all eras log in and call (B5-16)', async () => {
    const v1 = await connectSdkV1(gate.mcpUrl, { scopes });
    expect(said(await v1.client.callTool({ name: 'echo', arguments: { text: 'one' } }))).toMatchObject({
      said: 'one',
    });
    for (const mode of ['legacy', { pin: '2026-07-28' }, 'auto'] as const) {
      const { client } = await connectSdkV2(gate.mcpUrl, mode, { scopes });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('surroundings');
      expect(said(await client.callTool({ name: 'echo', arguments: { text: 'two' } }))).toMatchObject({
        said: 'two',
      });
      await client.close();
    }
    await v1.client.close();
  });

  it('starts one process for a session, and one for all calls of a client that has none', async () => {
    const v1 = await connectSdkV1(gate.mcpUrl, { scopes });
    const v2 = await connectSdkV2(gate.mcpUrl, { pin: '2026-07-28' }, { scopes });
    const pids = async (call: () => Promise<unknown>): Promise<Set<unknown>> =>
      new Set((await Promise.all(Array.from({ length: 8 }, call))).map((result) => said(result).pid));
    const echo = { name: 'echo', arguments: { text: 'x', delayMs: 50 } };
    const ofSession = await pids(() => v1.client.callTool(echo));
    const ofRequests = await pids(() => v2.client.callTool(echo));
    expect([ofSession.size, ofRequests.size]).toEqual([1, 1]);
    expect(ofSession).not.toEqual(ofRequests);
    await v1.client.close();
    await v2.client.close();
  });

  it('never lets answers of two people cross, whatever ids their clients choose (T-127, T-158)', async () => {
    // Both SDKs count from 0, so that every id is in use twice at once.
    const people = await Promise.all([
      connectSdkV1(gate.mcpUrl, { scopes }),
      connectSdkV1(gate.mcpUrl, { scopes, person: grace }),
      connectSdkV2(gate.mcpUrl, { pin: '2026-07-28' }, { scopes }),
      connectSdkV2(gate.mcpUrl, { pin: '2026-07-28' }, { scopes, person: grace }),
    ]);
    const pids = await Promise.all(
      people.map(async ({ client }, person) => {
        const answers = await Promise.all(
          Array.from({ length: 50 }, async (_, turn) => {
            const text = `${person}-${turn}`;
            const call = { name: 'echo', arguments: { text, delayMs: (turn * 7) % 40 } };
            const answer = said(await client.callTool(call));
            expect(answer.said).toBe(text);
            return answer.pid;
          }),
        );
        return new Set(answers);
      }),
    );
    for (const own of pids) expect(own.size).toBe(1);
    expect(new Set(pids.flatMap((own) => [...own])).size).toBe(people.length);
    await Promise.all(people.map(({ client }) => client.close()));
  });

  it('hands on the variables that were named and no others, the arguments as they are, and nobody’s token or _meta.auth (FA-38, T-105, T-152, T-153, T-154, B7-17)', async () => {
    const { client, provider } = await connectSdkV2(gate.mcpUrl, { pin: '2026-07-28' }, { scopes });
    const result = await client.callTool({
      name: 'surroundings',
      arguments: {},
      _meta: { auth: { API_TOKEN: 'of-the-caller' }, 'example.com/kept': 'yes' },
    });
    const { env, args, meta } = said(result) as {
      env: Record<string, string>;
      args: string[];
      meta: Record<string, unknown>;
    };
    expect(
      Object.keys(env)
        .filter((name) => !['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR'].includes(name))
        .sort(),
    ).toEqual(['API_TOKEN', 'BACKEND_MARK']);
    expect(env.API_TOKEN).toBe(token);
    expect(args).toEqual(['sound', '$HOME; echo `id`']);
    expect(meta).toMatchObject({ 'example.com/kept': 'yes' });
    expect(meta).not.toHaveProperty('auth');
    const everything = JSON.stringify(result);
    const bearer = (provider.tokens() as { access_token: string }).access_token;
    expect(bearer.length).toBeGreaterThan(20);
    expect(everything).not.toContain(bearer);
    expect(everything).not.toContain(canary);
    await client.close();
  });

  it('carries progress to the call it belongs to', async () => {
    const v1 = await connectSdkV1(gate.mcpUrl, { scopes });
    const v2 = await connectSdkV2(gate.mcpUrl, { pin: '2026-07-28' }, { scopes });
    const heard: Record<'v1' | 'v2', number[]> = { v1: [], v2: [] };
    await v1.client.callTool({ name: 'steps' }, undefined, {
      onprogress: ({ progress }) => heard.v1.push(progress),
    });
    await v2.client.callTool(
      { name: 'steps', arguments: {} },
      { onprogress: ({ progress }) => heard.v2.push(progress) },
    );
    expect(heard).toEqual({ v1: [1, 2, 3], v2: [1, 2, 3] });
    await Promise.all([v1.client.close(), v2.client.close()]);
  });

  it('asks the client that called what the program asks: by a request, or as input_required (C4-06)', async () => {
    const info = { name: 'asked', version: '1' };
    const answer = { action: 'accept' as const, content: { name: 'Ada' } };
    const older = await connectSdkV1(gate.mcpUrl, { scopes });
    const v1 = new ClientV1(info, { capabilities: { elicitation: {} } });
    v1.setRequestHandler(ElicitRequestSchema, () => answer);
    await v1.connect(new TransportV1(new URL(gate.mcpUrl), { authProvider: older.provider }));
    expect(said(await v1.callTool({ name: 'ask' }))).toEqual(answer);

    const newer = await connectSdkV2(gate.mcpUrl, { pin: '2026-07-28' }, { scopes });
    const v2 = new ClientV2(info, {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    });
    v2.setRequestHandler('elicitation/create', () => answer);
    await v2.connect(new TransportV2(new URL(gate.mcpUrl), { authProvider: newer.provider }));
    expect(said(await v2.callTool({ name: 'ask', arguments: {} }))).toEqual(answer);
    await Promise.all([v1, v2, older.client, newer.client].map((client) => client.close()));
  });

  it('answers a call in which the program crashes with an error at once, others go on, and the next call has it started anew (T-155)', async () => {
    const v1 = await connectSdkV1(gate.mcpUrl, { scopes });
    const v2 = await connectSdkV2(gate.mcpUrl, { pin: '2026-07-28' }, { scopes });
    const other = await connectSdkV1(gate.mcpUrl, { scopes, person: grace });
    const untouched = other.client.callTool({ name: 'echo', arguments: { text: 'other', delayMs: 1500 } });
    for (const { client } of [v1, v2]) {
      const begun = performance.now();
      await expect(client.callTool({ name: 'crash', arguments: {} })).rejects.toThrow(
        /Somebody else’s ended while the call ran/,
      );
      expect(performance.now() - begun).toBeLessThan(2000);
      expect(said(await client.callTool({ name: 'echo', arguments: { text: 'again' } })).said).toBe('again');
    }
    expect(said(await untouched).said).toBe('other');
    await Promise.all([v1, v2, other].map(({ client }) => client.close()));
  });

  it('takes garbage as what it is: lines are dropped, half an answer is an error (T-156)', async () => {
    const { client } = await connectSdkV1(gate.mcpUrl, { scopes });
    expect(said(await client.callTool({ name: 'garbage', arguments: { kind: 'line' } }))).toBe(
      'after the garbage',
    );
    await expect(client.callTool({ name: 'garbage', arguments: { kind: 'half' } })).rejects.toThrow(
      /no JSON-RPC response/,
    );
    expect(gate.program.written.stderr).toContain('no MCP message');
    await client.close();
  });

  it('warns of what it was given in the words in which it was given', async () => {
    const { program, stop } = await protect({ command: backendCommand('sound', ['$', '{NAME}'].join('')) });
    onTestFinished(stop);
    const [line] = await program.waitFor('stderr', /^.*placeholder.*$/m);
    expect(JSON.parse(line).msg).toMatch(/^the arguments of the command: .* pass the variable with --env\.$/);
    expect(program.written.stderr).not.toContain('routes.');
  });

  it('writes standard error of the program into the log, without control characters and secrets (T-194, T-195)', async () => {
    const { client } = await connectSdkV1(gate.mcpUrl, { scopes });
    await client.callTool({ name: 'mutter', arguments: { text: `\u001b[31mred\u001b[0m ${token} word` } });
    const [line] = await gate.program.waitFor('stderr', /^.*standard error.*$/m);
    expect(JSON.parse(line)).toMatchObject({
      backend: 'Somebody else’s',
      line: '\u{fffd}[31mred\u{fffd}[0m [redacted] word',
    });
    expect(gate.program.written.stderr).not.toContain(token);
    await client.close();
  });
});
