import {
  Client,
  StreamableHTTPClientTransport,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { McpLike, Message, ServerSource } from '../../../src/mcp/protocol.ts';
import { missingInputOf, withMissingInput } from '../../../src/mcp/upstreams/upstream.ts';
import { startGate } from '../support/gate.ts';

const url = 'https://gate.example/account/credentials/notion';
const failure = { code: -32603, message: `Enter it at ${url}.`, data: { reason: 'credential_missing' } };

/** Servers whose tools need something that their person has to give first. */
function createNeedy(isGiven: () => boolean): ServerSource {
  return {
    sharing: 'principal',
    create({ authInfo }): McpLike {
      const account = authInfo?.subject ?? '';
      return {
        async connect(transport) {
          transport.onmessage = ({ id, method, params }: Message) => {
            const missing = { name: 'credential-notion', key: account, message: 'Enter your key.', url };
            const refused = withMissingInput({ ...failure }, { ...missing, isGiven: async () => isGiven() });
            const serverInfo = { name: 'needy', version: '1' };
            const initialized = {
              protocolVersion: params?.protocolVersion,
              capabilities: { tools: {} },
              serverInfo,
            };
            const served = isGiven() ? { result: { content: [] } } : { error: refused };
            const answer = method === 'initialize' ? { result: initialized } : served;
            if (id !== undefined) void transport.send({ jsonrpc: '2.0', id, ...answer } as never);
          };
        },
        close: async () => undefined,
      };
    },
  };
}

async function connect(source: ServerSource, revision: string, capabilities: object) {
  const gate = await startGate({ source, scopeRules: {} } as never);
  const pin = revision === '2026-07-28' ? { versionNegotiation: { mode: { pin: revision } } } : {};
  const client = new Client({ name: 'client', version: '1' }, {
    capabilities,
    ...pin,
    ...(revision === '2026-07-28' ? {} : { supportedProtocolVersions: [revision] }),
  } as never);
  const requestInit = { headers: { authorization: `Bearer ${gate.issue('ann')}` } };
  const connected = () =>
    client.connect(new StreamableHTTPClientTransport(new URL(gate.url), { requestInit }));
  onTestFinished(() => client.close());
  return { client, connected };
}

describe('what only a person can give', () => {
  it('is known by the error itself: no error that a server wrote is one', () => {
    const missing = { name: 'a', key: 'a', message: 'm', url, isGiven: async () => false };
    const error = withMissingInput({ ...failure }, missing);
    expect(missingInputOf(error)).toBe(missing);
    expect(missingInputOf(JSON.parse(JSON.stringify(error)))).toBeUndefined();
    expect(missingInputOf(undefined)).toBeUndefined();
  });

  it('is asked of a client of 2025-11-25 that can open URLs, which is told when it is given (C7-04)', async () => {
    let isGiven = false;
    const { client, connected } = await connect(
      createNeedy(() => isGiven),
      '2025-11-25',
      {
        elicitation: { url: {} },
      },
    );
    const completed: unknown[] = [];
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
      completed.push(params.elicitationId);
    });
    await connected();
    const refused = await client.callTool({ name: 'any' }).catch((error: unknown) => error);
    if (!(refused instanceof UrlElicitationRequiredError)) throw refused;
    expect(refused.elicitations).toEqual([
      { mode: 'url', elicitationId: expect.any(String), url, message: 'Enter your key.' },
    ]);
    isGiven = true;
    await vi.waitFor(() => expect(completed).toEqual([refused.elicitations[0]?.elicitationId]), 3_000);
    expect(await client.callTool({ name: 'any' })).toEqual({ content: [] });
  });

  it('is asked of a client of 2026-07-28 as input, and its retry is served (C4-01, C7-04)', async () => {
    let isGiven = false;
    const { client, connected } = await connect(
      createNeedy(() => isGiven),
      '2026-07-28',
      {
        elicitation: { url: {} },
      },
    );
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      expect(params).toEqual({ mode: 'url', url, message: 'Enter your key.' });
      isGiven = true;
      return { action: 'accept' };
    });
    await connected();
    expect(await client.callTool({ name: 'any' })).toMatchObject({ content: [] });
  });

  it.each(['2025-11-25', '2026-07-28', '2025-03-26'])(
    'is said by the error of the call where a client of %s cannot open URLs',
    async (revision) => {
      const { client, connected } = await connect(
        createNeedy(() => false),
        revision,
        {},
      );
      await connected();
      const refused = await client.callTool({ name: 'any' }).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: -32603, data: { reason: 'credential_missing' } });
      expect(String(refused)).toContain(url);
    },
  );
});
