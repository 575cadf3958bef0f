// Over src/mcp/sdk/dedicated-conversations.ts and src/mcp/modern/streamable-http.ts: a server asks a client what that did not declare.
import { expect, it, onTestFinished } from 'vitest';
import { startGatehouse } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { enter, openDoor } from '../attacks/support/doors.ts';

/** A program of the older revisions whose tools are what they ask their client; each says what it was answered. */
const asking = `
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const calls = new Map();
const text = (id, value) => say({ id, result: { content: [{ type: 'text', text: JSON.stringify(value) }] } });
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) return calls.has(id) && text(calls.get(id), error ?? result);
  if (id === undefined) return;
  const initialized = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } };
  if (method === 'initialize') say({ id, result: initialized });
  else if (method === 'tools/call') {
    calls.set('q' + id, id);
    say({ id: 'q' + id, method: params.name, params: params.arguments });
  } else say({ id, error: { code: -32601, message: 'Method not found' } });
});`;

const questions = [
  ['sampling/createMessage', { messages: [], maxTokens: 1 }, 'sampling'],
  ['roots/list', {}, 'roots'],
  [
    'elicitation/create',
    { message: 'Name?', requestedSchema: { type: 'object', properties: {} } },
    'elicitation',
  ],
] as const;

async function doorTo(backend: { command: string; args: string[] }, name: 'mcp 2025' | 'mcp 2026') {
  const gatehouse = await startGatehouse({ backend });
  onTestFinished(() => gatehouse.stop());
  const door = await openDoor(gatehouse, name, await enter(gatehouse, { scopes: ['mcp'] }));
  onTestFinished(() => door.close());
  return (tool: string, args: object, id: number) =>
    door.ask('tools/call', { name: tool, arguments: args }, id);
}

it('A program that asks a session for what its client did not declare is refused at once, with what is missing (FA-31)', async () => {
  const call = await doorTo({ command: process.execPath, args: ['-e', asking] }, 'mcp 2025');
  const sinceMs = performance.now();
  for (const [at, [method, args, missing]] of questions.entries()) {
    const { result } = await call(method, args, at + 1);
    const [{ text }] = (result as { content: [{ text: string }] }).content;
    expect(JSON.parse(text)).toEqual({ code: -32601, message: `The client does not support ${missing}.` });
  }
  expect(performance.now() - sinceMs).toBeLessThan(20_000);
});

it.each([
  ['ask', { elicitation: { form: {} } }, 'elicitation'],
  ['sample', { sampling: {} }, 'sampling'],
  ['roots', { roots: {} }, 'roots'],
])(
  'A program of 2026-07-28 that needs %s of a client that did not declare it: the call ends and says so, in both eras (FA-31)',
  async (tool, requiredCapabilities, missing) => {
    const program = nodeProgram('test/support/backend/asking-program.ts', 'modern');
    const modern = await doorTo(program, 'mcp 2026');
    expect((await modern(tool, {}, 1)).error).toMatchObject({ code: -32021, data: { requiredCapabilities } });
    const legacy = await doorTo(program, 'mcp 2025');
    expect((await legacy(tool, {}, 1)).error).toMatchObject({
      message: expect.stringContaining(missing),
    });
  },
);
