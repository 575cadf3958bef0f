// How processes behind src/gateway/backends/stdio/legacy-process.ts begin and end, and what ends them with
// src/gateway/backends/stdio/process-groups.ts and src/gateway/backends/stdio/process-groups.ts. Processes are counted in /proc.
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runs } from '../../support/processes.ts';
import { runGatehouse } from '../../support/served.ts';
import { connectSdkV1 } from '../clients/support/sdk-v1.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';
import { backendCommand, type Protected, protect } from './support/protected.ts';

const scopes = ['mcp'];

async function started(options: Parameters<typeof protect>[0] = {}): Promise<Protected> {
  const gate = await protect(options);
  onTestFinished(() => gate.stop());
  return gate;
}

function said(result: unknown): Record<string, number> {
  const { content } = result as { content: { text: string }[] };
  return JSON.parse(content[0]?.text ?? '');
}

async function noneRuns(pids: () => readonly number[], withinMs: number): Promise<void> {
  await vi.waitFor(() => expect(pids()).toEqual([]), { timeout: withinMs, interval: 50 });
}

describe.skipIf(!existsSync('/proc/self/environ'))('processes behind gatehouse protect', () => {
  it('end with their session, offspring that does not listen among them (T-155)', async () => {
    const gate = await started();
    const { client } = await connectSdkV1(gate.mcpUrl, { scopes });
    const family = Object.values(said(await client.callTool({ name: 'offspring' })));
    expect(family.filter(runs)).toHaveLength(2);
    expect(gate.processes().sort()).toEqual(expect.arrayContaining(family));
    const transport = client.transport as unknown as { terminateSession(): Promise<void> };
    await transport.terminateSession();
    await noneRuns(() => family.filter(runs), 4000);
    await client.close();
  });

  it('end with the gatehouse at SIGTERM, within the ten seconds container runtimes give it (T-181)', async () => {
    const gate = await started();
    const v1 = await connectSdkV1(gate.mcpUrl, { scopes });
    const v2 = await connectSdkV2(gate.mcpUrl, { pin: '2026-07-28' }, { scopes });
    await v1.client.callTool({ name: 'offspring' });
    await v2.client.callTool({ name: 'offspring', arguments: {} });
    const running = gate.processes();
    expect(running.length).toBeGreaterThanOrEqual(4);
    const begun = performance.now();
    gate.program.process.kill('SIGTERM');
    expect(await gate.program.ended).toBe(0);
    expect(performance.now() - begun).toBeLessThan(10_000);
    await noneRuns(() => running.filter(runs), 100);
    await noneRuns(gate.processes, 3000);
  });

  it('leave no orphan when the gatehouse is killed with SIGKILL (T-155)', async () => {
    const gate = await started();
    const { client } = await connectSdkV1(gate.mcpUrl, { scopes });
    for (let count = 0; count < 5; count++) await client.callTool({ name: 'offspring' });
    const running = gate.processes();
    expect(running.length).toBeGreaterThanOrEqual(6);
    gate.program.process.kill('SIGKILL');
    await gate.program.ended;
    await noneRuns(() => running.filter(runs), 5000);
    await noneRuns(gate.processes, 3000);
  });

  it('are no more than allowed: of many sessions the longest idle gives way, and is started again when it is used (T-158)', async () => {
    const gate = await started({ options: ['--max-processes', '10'] });
    const { client, provider } = await connectSdkV1(gate.mcpUrl, { scopes });
    const bearer = (provider.tokens() as { access_token: string }).access_token;
    const post = (message: object, session?: string): Promise<Response> =>
      fetch(gate.mcpUrl, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${bearer}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
      });
    let most = 0;
    const sessions: string[] = [];
    for (let count = 0; count < 6; count++) {
      const clientInfo = { name: 'many', version: '1' };
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
      const response = await post({ method: 'initialize', params });
      expect(await response.json()).toMatchObject({ result: { serverInfo: { name: 'somebody-elses' } } });
      sessions.push(response.headers.get('mcp-session-id') ?? '');
      most = Math.max(most, gate.processes().length);
    }
    // Ten in all, two of an account; those that give way may take a moment to end.
    expect(most).toBeLessThanOrEqual(6);
    await vi.waitFor(() => expect(gate.processes().length).toBeLessThanOrEqual(2), { timeout: 4000 });
    const again = await post(
      { method: 'tools/call', params: { name: 'echo', arguments: { text: 'back' } } },
      sessions[0],
    );
    expect(await again.text()).toContain('back');
    await client.close();
  }, 240_000);

  it('that end at their start, or cannot be started, are an error that says so to the client, and why in the log (T-155, T-196)', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-nowhere-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const script = join(folder, 'server');
    await writeFile(script, '#!/nowhere/no-such-interpreter\n', { mode: 0o700 });
    const commands = [
      { command: [script, 'secret-argument'], logged: /ENOENT/ },
      { command: backendCommand('ending'), logged: /there is no configuration/ },
    ];
    for (const { command, logged } of commands) {
      const gate = await started({ command, options: ['--name', 'Broken'] });
      const failure = await connectSdkV1(gate.mcpUrl, { scopes }).catch((error: Error) => error);
      expect(String(failure)).toMatch(/The MCP server Broken could not be started/);
      expect(String(failure)).not.toMatch(/nowhere|secret-argument/);
      await gate.program.waitFor('stderr', logged);
      const modern = await connectSdkV2(gate.mcpUrl, 'auto', { scopes }).catch((error: Error) => error);
      expect(String(modern)).toMatch(/The MCP server Broken could not be started/);
      await noneRuns(gate.processes, 3000);
    }
  });
});

describe('gatehouse protect', () => {
  it('refuses to start with a variable that is not set, or with a value instead of a name, and says so', async () => {
    const data = ['--data', '/tmp/never-made', '--port', '0'];
    const missing = await runGatehouse(['protect', ...data, '--env', 'NOT_SET_ANYWHERE', '--', 'true']);
    expect(missing.code).not.toBe(0);
    expect(missing.stderr).toContain('NOT_SET_ANYWHERE');
    const value = await runGatehouse(['protect', ...data, '--env', 'KEY=secret', '--', 'true']);
    expect(value.code).toBe(2);
    expect(value.stderr).toContain('name of an environment variable');
    const none = await runGatehouse(['protect', ...data]);
    expect(none.code).toBe(2);
    expect(none.stderr).toMatch(/Say what to protect: a command, a URL, or --import/);
  });
});
