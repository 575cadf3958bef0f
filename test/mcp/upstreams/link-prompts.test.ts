import {
  Client,
  type ClientCapabilities,
  StreamableHTTPClientTransport,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Gate, startGate } from '../support/gate.ts';
import { createTestAccess, sources } from './support.ts';

const linkUrl = 'https://gate.example/account/upstreams/work/link';

/** Connects a client of one revision; it takes note of every elicitation that is told to be complete. */
async function connect(
  gate: Gate,
  token: string,
  revision: string,
  elicitation: { url?: object; form?: object } | undefined,
) {
  const client = new Client(
    { name: 'client', version: '1' },
    {
      supportedProtocolVersions: [revision],
      capabilities: (elicitation ? { elicitation } : {}) as ClientCapabilities,
    },
  );
  const completed: unknown[] = [];
  client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
    completed.push(params.elicitationId);
  });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(gate.url), { requestInit }));
  onTestFinished(() => client.close());
  return { client, completed };
}

/** The elicitations a call is refused for. */
async function refusedFor(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (refused: unknown) => refused,
  );
  if (!(error instanceof UrlElicitationRequiredError)) throw new Error(`not refused for URLs: ${error}`);
  return error.elicitations;
}

describe.each(Object.keys(sources))('a client of 2025-11-25 that can open URLs, with %s', (name) => {
  it('is told what to open, and when the person is done there; the call sent again goes well (C7-04)', async () => {
    const { access, people } = createTestAccess();
    const gate = await startGate({ source: sources[name]?.(), scopeRules: {}, upstreams: access } as never);
    const { client, completed } = await connect(gate, gate.issue('ann'), '2025-11-25', { url: {} });
    const other = await connect(gate, gate.issue('bob'), '2025-11-25', { url: {} });

    const [asked, ...more] = await refusedFor(client.callTool({ name: 'who' }));
    expect(more).toEqual([]);
    expect(asked).toMatchObject({ mode: 'url', url: linkUrl, elicitationId: expect.any(String) });
    expect(asked?.message).toContain('Link it');
    const [again] = await refusedFor(client.callTool({ name: 'who' }));
    expect(again?.elicitationId).toBe(asked?.elicitationId);
    const [others] = await refusedFor(other.client.callTool({ name: 'who' }));
    expect(others?.elicitationId).not.toBe(asked?.elicitationId);

    people.add('ann');
    await vi.waitFor(() => expect(completed).toEqual([asked?.elicitationId]), 3_000);
    expect(await client.callTool({ name: 'who' })).toMatchObject({ content: [{ text: 'ann' }] });
    expect(other.completed).toEqual([]);
  });

  it('is not asked for what the tool got along without', async () => {
    const { access } = createTestAccess();
    const gate = await startGate({ source: sources[name]?.(), scopeRules: {}, upstreams: access } as never);
    const { client } = await connect(gate, gate.issue('ann'), '2025-11-25', { url: {} });
    expect(await client.callTool({ name: 'caught' })).toMatchObject({
      content: [{ text: 'went on without it' }],
    });
  });
});

describe('a client that cannot open URLs', () => {
  it.each([
    ['2025-11-25', { form: {} }],
    ['2025-11-25', undefined],
    ['2025-06-18', { url: {} }],
    ['2025-03-26', undefined],
  ])('gets the answer of the tool, which has the URL: %s with %j', async (revision, elicitation) => {
    const { access } = createTestAccess();
    const source = sources['a shared v2 server']?.();
    const gate = await startGate({ source, scopeRules: {}, upstreams: access } as never);
    const { client } = await connect(gate, gate.issue('ann'), revision, elicitation);
    expect(await client.callTool({ name: 'who' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(`Open ${linkUrl} in a browser`) }],
    });
  });
});
