import { once } from 'node:events';
import { createServer, connect as dial } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLocalEndpoint } from '../../../src/mcp/stdio/endpoint.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { readOwnServer } from '../../../src/protected-server.ts';
import { testFolder } from '../../client/support/folder.ts';
import { initialize, modern } from '../../mcp/stdio/connected-host.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { repository, runProgram } from '../../support/program.ts';
import { formNamed, serverForms } from './support/forms.ts';

const program = join(repository, 'test/flows/features/support/stdio-program.ts');
const able = { elicitation: { form: {} }, sampling: {}, roots: {} };

describe('stdio', () => {
  it.each(serverForms.filter(({ sdk }) => sdk === 'v2'))(
    'of 2026-07-28 has no requests of $name: what it asks stands in the answer (B1-07)',
    async ({ name }) => {
      const asking = modern(1, 'tools/call', {
        name: 'ask',
        arguments: { questions: ['user', 'model', 'roots'] },
      });
      Object.assign(asking.params._meta, { 'io.modelcontextprotocol/clientCapabilities': able });
      const run = runProgram(program, [name]);
      onTestFinished(() => run.stop());
      run.process.stdin?.write(`${JSON.stringify(asking)}\n`);
      const [line] = await run.waitFor('stdout', /.*\n/);
      run.process.stdin?.end();
      expect(await run.ended).toBe(0);
      expect(run.written.stdout).toBe(line);
      const { id, result } = JSON.parse(line);
      expect([id, result.resultType, Object.keys(result.inputRequests)]).toEqual([
        1,
        'input_required',
        ['user', 'model', 'roots'],
      ]);
    },
  );

  it.each(serverForms.filter(({ sdk }) => sdk === 'v1'))(
    'of $name is found out to be of an older era, and spoken to in it',
    async ({ name }) => {
      const client = new Client({ name: 'host', version: '1' }, { versionNegotiation: { mode: 'auto' } });
      onTestFinished(() => client.close());
      await client.connect(new StdioClientTransport(nodeProgram(program, name)));
      expect(client.getNegotiatedProtocolVersion()).toBe('2025-11-25');
      expect(await client.callTool({ name: 'contents' })).toMatchObject({
        content: [{ type: 'text' }, {}, {}, {}, {}, {}],
      });
    },
  );

  it('has a framing that any stream of bytes can use, such as a socket of this machine (B1-10)', async () => {
    const issuer = 'http://localhost:3000';
    const { source } = readOwnServer(formNamed('a v2 server each').bring(new Map()), issuer);
    const listener = createServer((socket) => {
      createLocalEndpoint({
        source,
        account: { id: 'ada', scopes: ['mcp'] },
        issuer,
        resource: `${issuer}/mcp`,
        stdin: socket,
        stdout: socket,
        logger: createLogger('silent'),
      });
    });
    const path = join(testFolder(), 's');
    listener.listen(path);
    await once(listener, 'listening');
    onTestFinished(() => void listener.close());
    for (const first of [initialize('2025-11-25', 7), modern(7, 'tools/list')]) {
      const socket = dial(path);
      onTestFinished(() => void socket.destroy());
      socket.write(`${JSON.stringify(first)}\n`);
      const [line] = await once(createInterface(socket), 'line');
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0', id: 7, result: {} });
    }
  });
});
