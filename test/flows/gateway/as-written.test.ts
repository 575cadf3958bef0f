// Flows through src/collections/exact-json.ts: random documents through every kind of backend and every transport.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Target } from '../../attacks/support/gates.ts';
import { type Lane, openLane } from '../../attacks/support/lane.ts';
import { docIn } from '../../support/backend/echo-source.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { anyDocument, sameText } from '../../support/json-documents.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { createRandom } from '../attacks/support/random.ts';
import { type EchoServers, startEchoServers } from './support/echo-servers.ts';

const count = Number(process.env.GATEHOUSE_RELAY_DOCUMENTS ?? 500);
const seed = Number(process.env.GATEHOUSE_RELAY_SEED ?? 44);
const doors = ['session', 'modern', 'sse', 'rest'] as const;
const program = (era: string) => nodeProgram('test/support/backend/echo-program.ts', era);

let servers: EchoServers;
let gatehouse: RunningGatehouse;
const lanes: Lane[] = [];
/** What came on the stream of HTTP+SSE -> who waits for it, by the id of the request. */
const onStream = new Map<string, (text: string) => void>();
const routeNames = [
  'http',
  'stream',
  'modern',
  'sse',
  'rest',
  'program',
  'newer',
  'checked',
  'checked',
  'joined',
] as const;

beforeAll(async () => {
  servers = await startEchoServers();
  const remote = (kind: Parameters<EchoServers['url']>[0], transport: 'auto' | 'sse' | 'rest' = 'auto') => ({
    backend: { url: servers.url(kind), transport },
  });
  gatehouse = await startGatehouse({
    routes: {
      http: remote('http'),
      stream: remote('stream'),
      modern: remote('modern'),
      sse: remote('sse', 'sse'),
      rest: remote('rest', 'rest'),
      program: { backend: program('legacy') },
      newer: { backend: program('modern') },
      checked: { ...remote('http'), policy: { checkArguments: true } },
      joined: { backends: { one: { url: servers.url('http') }, two: program('modern') } },
    },
    limits: { toolCalls: { times: 0 } },
    mcp: { maxCallsPerPrincipal: 1000 },
  });
  await gatehouse.administration.accounts.add('grace@example.com', 'correct horse battery staple');
  for (const route of routeNames) {
    const tokenFor = async (end: string) => {
      const at = { url: gatehouse.url, mcpUrl: `${gatehouse.url}/${route}${end}` };
      return (await obtainTokens(at, { scope: 'mcp', scopes: ['mcp'] })).tokens.access_token;
    };
    const token = await tokenFor('/mcp');
    const target: Target = {
      name: route,
      gatehouse,
      path: `/${route}`,
      strictness: { names: 'open', checksArguments: false, readOnly: false },
      naming: {},
      doors,
      tokens: { mcp: token, sse: token, rest: token },
    };
    for (const door of doors) {
      let held = '';
      const hear = (chunk: string): void => {
        held += chunk;
        const events = held.split('\n\n');
        held = events.pop() ?? '';
        for (const event of events) onStream.get(/"id":"(c-\d+)"/.exec(event)?.[1] ?? '')?.(event);
      };
      lanes.push(await openLane(target, door, { hear, patienceMs: 60_000 }));
    }
  }
});
afterAll(async () => {
  for (const lane of lanes) lane.close();
  await gatehouse?.stop();
  await servers?.stop();
});

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'caller', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const mirrors = (name: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': name,
});

/** Calls the tool with a document. @param id source text of the id @returns the message that answers it */
async function call(lane: Lane, id: string, doc: string, turn = 0): Promise<string> {
  const name = lane.target.name === 'joined' ? ['one_echo', 'two_echo'][turn % 2] : 'echo';
  const isModern = lane.door === 'modern';
  const about = isModern ? `,"_meta":${JSON.stringify(meta)}` : '';
  const params = `{"name":"${name}","arguments":{"doc":${doc},"end":"of doc"}${about}}`;
  const body = Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`);
  const heard =
    lane.door === 'sse'
      ? new Promise<string>((resolve) => onStream.set(JSON.parse(id) as string, resolve))
      : undefined;
  const answer = await lane.send({ body, headers: isModern ? mirrors(name ?? '') : {} });
  const text = heard ? await heard : answer.body;
  return /\{"jsonrpc".*\}/s.exec(text)?.[0] ?? `${answer.status} ${text}`;
}

/** What reached the server, and what came back from it. */
function textsOf(answer: string): [string | undefined, string] {
  const { result } = (answer.startsWith('{') ? JSON.parse(answer) : {}) as {
    result?: { content?: { text: string }[] };
  };
  return [result?.content?.[0]?.text, docIn(answer.slice(answer.indexOf('"structured')))];
}

describe('what the gateway carries', () => {
  it(`is, number for number and character for character, what was sent: ${count} documents (FA-40, FA-42)`, async () => {
    console.log(`GATEHOUSE_RELAY_SEED=${seed} GATEHOUSE_RELAY_DOCUMENTS=${count}`);
    const random = createRandom(seed);
    const documents = Array.from({ length: count }, () => anyDocument(random));
    const wrong: string[] = [];
    let next = 0;
    const work = async (lane: Lane): Promise<void> => {
      for (let turn = next++; turn < count; turn = next++) {
        const doc = documents[turn] ?? '';
        const answer = await call(lane, `"c-${turn}"`, doc, turn);
        const expected = sameText(doc);
        const [reached, back] = textsOf(answer);
        if (reached !== undefined && sameText(reached) === expected && sameText(back) === expected) continue;
        wrong.push(`${lane.target.name} by ${lane.door}: ${doc} is answered with ${answer}`);
      }
    };
    // Under load a check may not come to an end, and nothing is sent then.
    await Promise.all(lanes.filter(({ target }) => target.name !== 'checked').map(work));
    expect(wrong.slice(0, 3)).toEqual([]);
  }, 3_600_000);

  it.each(routeNames)(
    'A list has the numbers of its schemas as they were written: %s (FA-40)',
    async (route) => {
      for (const lane of lanes.filter(({ target, door }) => target.name === route && door !== 'sse')) {
        const params = lane.door === 'modern' ? `{"_meta":${JSON.stringify(meta)}}` : '{}';
        const body = Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${params}}`);
        const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
        const answer = await lane.send({ body, headers: lane.door === 'modern' ? headers : {} });
        expect(answer.body).toContain('"maximum":9223372036854775807,"multipleOf":1.0}');
      }
    },
  );

  it('Arguments are checked by their numbers, and sent on as they were written (FA-40)', async () => {
    for (const lane of lanes.filter(({ target, door }) => target.name === 'checked' && door !== 'sse')) {
      const fits = await call(lane, '"c-1"', '[1],"much":1234567890123456789.0');
      expect(textsOf(fits)[0]).toBe('[1],"much":1234567890123456789.0');
      expect(await call(lane, '"c-2"', '[1],"much":1e30')).toContain('do not fit the input schema');
    }
  });

  it.each(routeNames)(
    'A request whose id is beyond 2^53 is answered with that id: %s (FA-40)',
    async (route) => {
      for (const lane of lanes.filter(({ target, door }) => target.name === route && door !== 'sse')) {
        const ids = ['12345678901234567890', '12345678901234567891', '1e20'];
        const answers = await Promise.all(ids.map((id) => call(lane, id, `["${id}"]`)));
        expect(answers.map((answer) => /"id":([^,]+)/.exec(answer)?.[1])).toEqual(ids);
        expect(answers.map((answer) => textsOf(answer)[1])).toEqual(ids.map((id) => `["${id}"]`));
      }
    },
  );
});
