// Flows through src/client/transports/exact-numbers.ts: random documents from a host to a server and back.
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { openBridge } from '../../../../src/client/node/index.ts';
import { createRandom } from '../../../flows/attacks/support/random.ts';
import { type EchoServers, startEchoServers } from '../../../flows/gateway/support/echo-servers.ts';
import { docIn } from '../../../support/backend/echo-source.ts';
import { anyDocument, sameText } from '../../../support/json-documents.ts';

const count = Number(process.env.GATEHOUSE_RELAY_DOCUMENTS ?? 400) / 4;
let servers: EchoServers;
beforeAll(async () => {
  servers = await startEchoServers();
});
afterAll(() => servers.stop());

/** Bridges a host that writes lines. @returns sends one, if any, and resolves with the next line of the bridge */
function openHost(url: string): (line?: string) => Promise<string> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const bridge = openBridge({ url, fetch, stdin, stdout, say: () => undefined });
  onTestFinished(async () => {
    await bridge.close();
    stdin.destroy();
  });
  const waiting: ((line: string) => void)[] = [];
  const unread: string[] = [];
  let held = '';
  stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (held + chunk).split('\n');
    held = lines.pop() ?? '';
    for (const line of lines) {
      const take = waiting.shift();
      if (take) take(line);
      else unread.push(line);
    }
  });
  return (line) => {
    if (line !== undefined) stdin.write(`${line}\n`);
    const next = unread.shift();
    return next === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(next);
  };
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'host', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const hello = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'host', version: '1' },
};

const kinds = ['http', 'stream', 'sse', 'modern', 'translated'] as const;
const urlOf = (kind: (typeof kinds)[number]) => servers.url(kind === 'translated' ? 'modern' : kind);

it.each(kinds)(
  'What a host sends and hears through connect is what was written: a server over %s (FA-40)',
  async (kind) => {
    const ask = openHost(urlOf(kind));
    const about = kind === 'modern' ? `,"_meta":${JSON.stringify(meta)}` : '';
    if (kind !== 'modern')
      await ask(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: hello }));
    const random = createRandom(44);
    for (let turn = 1; turn <= count; turn++) {
      const doc = anyDocument(random);
      const params = `{"name":"echo","arguments":{"doc":${doc},"end":"of doc"}${about}}`;
      const answer = await ask(`{"jsonrpc":"2.0","id":${turn},"method":"tools/call","params":${params}}`);
      const { result } = JSON.parse(answer) as { result?: { content: { text: string }[] } };
      expect(result, answer).toBeDefined();
      const back = docIn(answer.slice(answer.indexOf('"structured')));
      expect([sameText(result?.content[0]?.text ?? ''), sameText(back)]).toEqual([
        sameText(doc),
        sameText(doc),
      ]);
    }
  },
  3_600_000,
);

it.each(kinds)(
  'Ids and progress tokens beyond 2^53 go through connect as they were written: a server over %s (FA-40)',
  async (kind) => {
    const ask = openHost(urlOf(kind));
    const given = kind === 'modern' ? JSON.stringify(meta).slice(1, -1) : '';
    const initialize = (id: string) =>
      `{"jsonrpc":"2.0","id":${id},"method":"initialize","params":${JSON.stringify(hello)}}`;
    if (kind !== 'modern') {
      const opened = await ask(initialize('18446744073709551615'));
      expect(opened).toContain('"id":18446744073709551615,"result"');
    }
    for (const id of ['9007199254740993', '-9223372036854775808', '123456789012345678901234567890']) {
      const hasProgress = kind === 'stream' || kind === 'sse';
      const token = hasProgress ? `"progressToken":${id}` : given;
      const params = `{"name":"echo","arguments":{"doc":{"n":${id}},"end":"of doc"},"_meta":{${token}}}`;
      const first = await ask(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`);
      if (hasProgress) expect(first).toContain(`"params":{"progressToken":${id},"progress":1}`);
      const answer = hasProgress ? await ask() : first;
      expect(answer).toContain(`"id":${id}`);
      expect(JSON.parse(answer)).toMatchObject({ id: Number(id), result: { content: [{ type: 'text' }] } });
      expect(docIn(answer.slice(answer.indexOf('"structured')))).toBe(`{"n":${id}}`);
    }
  },
);
