// Flows through src/gateway/backends/remote.ts, src/gateway/backends/remote/remote-server.ts,
// src/gateway/backends/remote/streamable-http.ts, src/gateway/backends/remote/own-stream.ts,
// src/gateway/backends/remote/event-stream.ts, src/gateway/backends/remote/answer-body.ts and
// src/gateway/backends/remote/wire.ts: real servers on loopback, real logins, the real clients of both SDKs.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { connectSdkV1 } from '../clients/support/sdk-v1.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';
import { type Elsewhere, serveStreamable } from './support/elsewhere.ts';

const scopes = ['mcp'];

function said(result: unknown): Record<string, unknown> {
  const { content } = result as { content: { text: string }[] };
  return JSON.parse(content[0]?.text ?? '');
}

const kinds = [
  { title: 'Streamable HTTP, answered with streams', serve: () => serveStreamable() },
  { title: 'Streamable HTTP, answered with JSON', serve: () => serveStreamable({ json: true }) },
];

describe.each(kinds)('a server reached over $title', ({ serve }) => {
  let elsewhere: Elsewhere;
  let gate: RunningGatehouse;
  beforeAll(async () => {
    elsewhere = await serve();
    gate = await startGatehouse({ backend: { url: elsewhere.url, name: 'Elsewhere' } });
  });
  afterAll(async () => {
    await gate.stop();
    await elsewhere.stop();
  });

  it('is served to the SDK’s clients of both versions and all eras (B5-16, B7-16)', async () => {
    const v1 = await connectSdkV1(gate.mcpUrl, { scopes });
    expect(said(await v1.client.callTool({ name: 'echo', arguments: { text: 'one' } }))).toEqual({
      said: 'one',
    });
    for (const mode of ['legacy', { pin: '2026-07-28' }, 'auto'] as const) {
      const { client } = await connectSdkV2(gate.mcpUrl, mode, { scopes });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('seen');
      expect(said(await client.callTool({ name: 'echo', arguments: { text: 'two' } }))).toEqual({
        said: 'two',
      });
      await client.close();
    }
    await v1.client.close();
  });
});
