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

/** Bridges a host that writes lines. @returns sends one, and resolves with the next line of the bridge */
function openHost(url: string): (line: string) => Promise<string> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const bridge = openBridge({ url, fetch, stdin, stdout, say: () => undefined });
  onTestFinished(async () => {
    await bridge.close();
    stdin.destroy();
  });
  const waiting: ((line: string) => void)[] = [];
  let held = '';
  stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (held + chunk).split('\n');
    held = lines.pop() ?? '';
    for (const line of lines) waiting.shift()?.(line);
  });
  return (line) => {
    stdin.write(`${line}\n`);
    return new Promise((resolve) => waiting.push(resolve));
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

it.each(['http', 'stream', 'sse', 'modern'] as const)(
  'What a host sends and hears through connect is what was written: a server over %s (FA-40)',
  async (kind) => {
    const ask = openHost(servers.url(kind));
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
);
