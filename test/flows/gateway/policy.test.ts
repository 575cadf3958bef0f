// Flows through src/gateway/steps/with-steps.ts, src/gateway/steps/index.ts, src/composition/backend-state.ts,
// src/composition/route-backend.ts and src/composition/resolve-routes.ts: a real program that is not to be trusted
// behind the gate, real logins, the real clients of both SDKs.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { SettingsInput } from '../../../src/options.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { grace } from '../../support/served.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { connectSdkV1 } from '../clients/support/sdk-v1.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';

const scopes = ['mcp'];
const eras = ['SDK v1', 'SDK v2 of 2026-07-28'] as const;

/** A client that is logged in at a route. */
async function connect(era: (typeof eras)[number], url: string, person?: typeof grace) {
  const decision = { scopes, ...(person && { person }) };
  const { client } =
    era === 'SDK v1'
      ? await connectSdkV1(url, decision)
      : await connectSdkV2(url, { pin: '2026-07-28' }, decision);
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    tools: async () => (await client.listTools()).tools,
    /** What the tool said, or the error it was answered with. */
    call: async (name: string, args: Record<string, unknown> = {}) => {
      try {
        const { content, isError } = (await client.callTool({ name, arguments: args })) as {
          content: { text: string }[];
          isError?: boolean;
        };
        return isError ? { isError, text: content[0]?.text } : (JSON.parse(content[0]?.text ?? '') as object);
      } catch (error) {
        const { code, message, data } = error as {
          code?: number;
          message: string;
          data?: { reason?: string };
        };
        return { code, message, reason: data?.reason };
      }
    },
    close: () => client.close(),
  };
}

let folder: string;
let gate: RunningGatehouse;
const file = (name: string): string => join(folder, name);
const backend = (name: string) =>
  nodeProgram('test/support/backend/changing-server.ts', file(`${name}-turned`), file(`${name}-cancelled`));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-policy-'));
  const routes: NonNullable<SettingsInput['routes']> = {
    narrow: {
      backend: backend('narrow'),
      policy: {
        tools: { allow: ['read', 'hang'], deny: ['hang'] },
        limits: [{ tools: 'read', perMinute: 3 }],
      },
    },
    reading: { backend: backend('reading'), policy: { readOnly: true, checkArguments: true } },
    slow: { backend: backend('slow'), policy: { timeLimitSeconds: 1 } },
    failing: { backend: backend('failing'), policy: { breaker: { failures: 2, openSeconds: 2 } } },
    blocking: { backend: backend('blocking'), policy: { onToolChange: 'block' } },
  };
  gate = await startGatehouse({ routes });
  await gate.administration.accounts.add(grace.email, grace.password);
});
afterAll(async () => {
  await gate.stop();
  await rm(folder, { recursive: true, force: true });
});
const at = (route: string): string => `${gate.url}/${route}/mcp`;

describe.each(eras)('the policy of a backend, for a client of %s', (era) => {
  it('leaves the tools that may be used: another is not listed, and not there when it is called', async () => {
    const client = await connect(era, at('narrow'));
    expect(await client.names()).toEqual(['read']);
    expect(await client.call('write')).toMatchObject({
      code: -32602,
      message: expect.stringContaining('not found'),
    });
    expect(await client.call('hang')).toMatchObject({ code: -32602 });
    await client.close();
  });

  it('leaves the tools that change nothing, and has arguments checked', async () => {
    const client = await connect(era, at('reading'));
    expect(await client.names()).toEqual(['read']);
    expect(await client.call('read', { path: 'a' })).toMatchObject({ called: 'read' });
    expect(await client.call('write')).toMatchObject({ code: -32602 });
    const { text } = (await client.call('read', { path: 5 })) as { text?: string };
    expect(text).toContain('path: Instance type "number" is invalid');
    await client.close();
  });

  it('shows descriptions without what nobody sees, and no names with it (T-160)', async () => {
    const client = await connect(era, at('slow'));
    const tools = await client.tools();
    expect(tools.map(({ name }) => name)).toEqual(['read', 'write', 'hang', 'die']);
    expect(tools[1]?.description).toBe('Writes.');
    await client.close();
  });

  it('ends a call that hangs in its time, tells the program, and lets others go on meanwhile (T-156)', async () => {
    rmSync(file('slow-cancelled'), { force: true });
    const client = await connect(era, at('slow'));
    const other = await connect(era, at('slow'), grace);
    const hanging = client.call('hang');
    expect(await other.call('read')).toMatchObject({ called: 'read' });
    expect(await client.call('read')).toMatchObject({ called: 'read' });
    expect(await hanging).toMatchObject({
      code: -32603,
      reason: 'backend_call_timed_out',
      message: expect.stringContaining('slow'),
    });
    await vi.waitUntil(() => existsSync(file('slow-cancelled')));
    expect(readFileSync(file('slow-cancelled'), 'utf8')).toBe('cancelled\n');
    expect(await client.call('read')).toMatchObject({ called: 'read' });
    await client.close();
    await other.close();
  });
});

it('a person who calls a tool too often is told when to come back; another is not held up (T-156)', async () => {
  const [ada, other] = [await connect(eras[0], at('narrow')), await connect(eras[0], at('narrow'), grace)];
  const calls = async ({ call }: typeof ada) => {
    const answers = [];
    for (let count = 0; count < 4; count++)
      answers.push(((await call('read')) as { reason?: string }).reason);
    return answers;
  };
  expect(await calls(ada)).toEqual([undefined, undefined, undefined, 'tool_called_too_often']);
  expect((await calls(other)).slice(0, 3)).toEqual([undefined, undefined, undefined]);
  await ada.close();
  await other.close();
});

it('a backend that fails is left alone for a while: answers come at once, and one call tries (T-157)', async () => {
  const [ada, other] = [await connect(eras[1], at('failing')), await connect(eras[1], at('failing'), grace)];
  const reasons: unknown[] = [];
  // Each node counts by itself.
  while (reasons.length < 4 || (reasons.at(-1) !== 'backend_resting' && reasons.length < 4 * nodeCount))
    reasons.push(((await ada.call('die')) as { reason?: string }).reason);
  expect(reasons[0]).toBe('backend_ended');
  expect(reasons.at(-1)).toBe('backend_resting');
  expect(await other.call('read')).toMatchObject({ called: 'read' });
  await vi.waitUntil(async () => 'called' in (await ada.call('read')), { timeout: 15_000, interval: 500 });
  await ada.close();
  await other.close();
});

it('a tool that is defined otherwise is told in the log and the audit log, and blocked where the operator wants it, until they accept it (T-160)', async () => {
  const telling = await connect(eras[0], at('narrow'));
  const blocking = await connect(eras[0], at('blocking'));
  expect([await telling.names(), await blocking.names()]).toEqual([
    ['read'],
    ['read', 'write', 'hang', 'die'],
  ]);
  writeFileSync(file('narrow-turned'), '');
  writeFileSync(file('blocking-turned'), '');
  expect([await telling.names(), await blocking.names()]).toEqual([['read'], ['write', 'hang', 'die']]);
  const later = await connect(eras[1], at('blocking'), grace);
  expect(await later.call('read')).toMatchObject({ code: -32000, reason: 'tool_definition_changed' });
  expect(await later.call('write')).toMatchObject({ called: 'write' });

  const changed = await vi.waitUntil(async () => {
    const events = await gate.administration.audit.list({ event: 'definition.', limit: 10 });
    return events.length === 2 && events;
  });
  expect(changed.map(({ details }) => `${details.route} ${details.name}`).sort()).toEqual([
    'blocking read',
    'narrow read',
  ]);
  expect(gate.log.filter((line) => line.includes('a backend changed the definition of a tool'))).toHaveLength(
    2,
  );

  const { pins } = gate.administration;
  const seen = (await pins.list('blocking')).flatMap(({ changed }) => changed?.hash ?? []);
  expect(await pins.accept('blocking', seen)).toEqual(['read']);
  expect(await later.call('read')).toMatchObject({ called: 'read' });
  expect(await later.names()).toContain('read');
  await Promise.all([telling, blocking, later].map((client) => client.close()));
});
