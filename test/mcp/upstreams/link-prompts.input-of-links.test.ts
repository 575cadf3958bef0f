import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Gate, modernRequest, readAnswer, startGate } from '../support/gate.ts';
import { createTestAccess, sources } from './support.ts';

const linkUrl = 'https://gate.example/account/upstreams/work/link';
const key = 'gatehouse-link-work';

/** Sends a call of 2026-07-28 of a client that can do these things. */
async function call(gate: Gate, token: string, capabilities: object, params: object = {}) {
  const request = modernRequest('tools/call', { name: 'who', arguments: {}, ...params });
  const sent = request.json as { params: { _meta: Record<string, unknown> } };
  sent.params._meta['io.modelcontextprotocol/clientCapabilities'] = capabilities;
  return readAnswer(await gate.send(token, request));
}

const canOpen = { elicitation: { url: {} } };

describe.each(Object.keys(sources))('a client of 2026-07-28, with %s', (name) => {
  const start = (access: ReturnType<typeof createTestAccess>['access']): Promise<Gate> =>
    startGate({ source: sources[name]?.(), scopeRules: {}, upstreams: access } as never);

  it('is asked to open the URL where it can, and its retry waits for the person (C4-01, C7-04)', async () => {
    const { access, people } = createTestAccess();
    const gate = await start(access);
    const token = gate.issue('ann');
    const asked: unknown[] = [];
    const client = new Client(
      { name: 'client', version: '1' },
      { capabilities: canOpen, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params);
      // A person takes longer than a client.
      setTimeout(() => people.add('ann'), 300);
      return { action: 'accept' };
    });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(gate.url), { requestInit }));
    onTestFinished(() => client.close());
    expect(await client.callTool({ name: 'who' })).toMatchObject({ content: [{ text: 'ann' }] });
    expect(asked).toEqual([
      expect.objectContaining({ mode: 'url', url: linkUrl, message: expect.stringContaining('Link it') }),
    ]);
  });

  it('is asked once: a person who declined is told by the answer of the tool', async () => {
    const { access, calls } = createTestAccess();
    const gate = await start(access);
    const token = gate.issue('ann');
    const first = await call(gate, token, canOpen);
    expect(first.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { [key]: { method: 'elicitation/create', params: { mode: 'url', url: linkUrl } } },
    });
    expect(first.result).not.toHaveProperty('requestState');
    const second = await call(gate, token, canOpen, { inputResponses: { [key]: { action: 'decline' } } });
    expect(second.result).toMatchObject({ isError: true, resultType: 'complete' });
    expect(JSON.stringify(second.result)).toContain(linkUrl);
    expect(calls.map(({ patienceMs }) => patienceMs)).toEqual([0, 0]);
  });

  it('gets the answer of the tool where it cannot open URLs (C4-02)', async () => {
    const { access } = createTestAccess();
    const gate = await start(access);
    for (const capabilities of [{}, { elicitation: {} }, { elicitation: { form: {} } }]) {
      const { result } = await call(gate, gate.issue('ann'), capabilities);
      expect(result).toMatchObject({ isError: true });
      expect(JSON.stringify(result)).toContain(`Open ${linkUrl} in a browser`);
    }
  });

  it('is not asked for what the tool got along without', async () => {
    const { access } = createTestAccess();
    const gate = await start(access);
    const { result } = await call(gate, gate.issue('ann'), canOpen, { name: 'caught' });
    expect(result).toMatchObject({ content: [{ text: 'went on without it' }] });
  });
});
