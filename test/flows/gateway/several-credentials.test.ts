// Keys that people enter for one of several backends behind one path, through src/gateway/aggregate/aggregate-server.ts,
// src/gateway/steps/tool-definitions.ts and src/gateway/credentials/waiting-server.ts: real programs and servers, real logins, keys entered on the account page.
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { connectSdkV1 } from '../clients/support/sdk-v1.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';
import { type Elsewhere, serveStreamable } from './support/elsewhere.ts';
import { enterKey } from './support/enter-key.ts';

const scopes = ['mcp'];
const unavailable = 'mcp-gatehouse/unavailable';
const program = nodeProgram('test/support/backend/server.ts', 'sound');

/** Policies without and with which a call has to know its tool. */
const policies = {
  open: undefined,
  block: { onToolChange: 'block' },
  check: { checkArguments: true },
} as const;

let http: Elsewhere;
let gate: RunningGatehouse;
beforeAll(async () => {
  http = await serveStreamable();
  const routes = Object.entries(policies).map(([name, policy]) => [
    name,
    {
      name: 'All tools',
      backends: { own: program, web: { url: http.url, transport: 'http' }, free: program },
      credentials: {
        ownKey: { label: 'Notion key', backend: 'own', as: { env: 'NOTION_TOKEN' } },
        webKey: { label: 'Web key', backend: 'web', as: { header: 'x-key' } },
      },
      ...(policy && { policy }),
    },
  ]);
  gate = await startGatehouse({ routes: Object.fromEntries(routes) });
});
afterAll(async () => {
  await gate.stop();
  await http.stop();
});

let people = 0;
type Person = { email: string; password: string };
async function newPerson(): Promise<Person> {
  people += 1;
  const person = { email: `person${people}@example.com`, password: 'yet another horse staple' };
  await gate.administration.accounts.add(person.email, person.password);
  return person;
}

/** Enters a key on the account page. */
async function enter(credential: string, value: string, person: Person, page: string) {
  await enterKey(gate, { page, credential, value, person });
}

function said(result: unknown) {
  const { content } = result as { content: { text: string }[] };
  return JSON.parse(content[0]?.text ?? '');
}

const call = (name: string, args: object = {}) => ({ name, arguments: args as Record<string, unknown> });

/** Connects a client that can open URLs. */
async function connectOpening(route: string, person: Person, mode: 'legacy' | { pin: string }) {
  const url = `${gate.url}/${route}/mcp`;
  const { client: plain, provider } = await connectSdkV2(url, mode, { scopes, person });
  await plain.close();
  const client = new ClientV2(
    { name: 'test', version: '1' },
    { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode } },
  );
  const authorization = `Bearer ${provider.tokens()?.access_token}`;
  return {
    client,
    connect: () =>
      client.connect(new TransportV2(new URL(url), { requestInit: { headers: { authorization } } })),
  };
}

describe.each(Object.keys(policies))(
  'a key that is missing for one of several backends behind one path (policy: %s)',
  (route) => {
    it('is said by calls of that backend alone; the others go on, and lists say who is away and why', async () => {
      const person = await newPerson();
      const { client } = await connectSdkV1(`${gate.url}/${route}/mcp`, { scopes, person });
      const { tools, _meta } = await client.listTools();
      expect(new Set(tools.map(({ name }) => name.split('_')[0]))).toEqual(new Set(['free']));
      expect(_meta?.[unavailable]).toMatchObject([
        { backend: 'own', reason: 'credential_missing' },
        { backend: 'web', reason: 'credential_missing' },
      ]);
      expect(said(await client.callTool(call('free_echo', { text: 'x' }))).pid).toBeGreaterThan(0);
      const refused = await client.callTool(call('own_echo')).catch((error: unknown) => error);
      expect(refused).toMatchObject({
        data: { reason: 'credential_missing', url: expect.stringContaining(`/account/credentials/${route}`) },
      });
      expect(String(refused)).toContain(
        'The MCP server All tools/own cannot be used yet. It needs your Notion key.',
      );

      const changed = vi.fn();
      client.setNotificationHandler(ToolListChangedNotificationSchema, changed);
      await enter('ownKey', 'key-of-own', person, `/credentials/${route}`);
      await vi.waitFor(() => expect(changed).toHaveBeenCalled(), 5_000);
      expect(said(await client.callTool(call('own_surroundings'))).env.NOTION_TOKEN).toBe('key-of-own');
      const after = await client.listTools();
      expect(after.tools.map(({ name }) => name)).toContain('own_echo');
      expect(after._meta?.[unavailable]).toMatchObject([{ backend: 'web' }]);
      await client.close();
    });

    it('is asked for in a session of 2025-11-25 by the error that has the URL, and its client told when it is there (C7-04)', async () => {
      const person = await newPerson();
      const { client, connect } = await connectOpening(route, person, 'legacy');
      const completed: unknown[] = [];
      client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
        completed.push(params.elicitationId);
      });
      await connect();
      expect(said(await client.callTool(call('free_echo', { text: 'x' }))).pid).toBeGreaterThan(0);
      const refused = await client.callTool(call('web_seen')).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(UrlElicitationRequiredError);
      const { elicitations } = refused as UrlElicitationRequiredError;
      expect(elicitations).toMatchObject([{ message: expect.stringContaining('Web key') }]);
      const [{ url = '', elicitationId = '' } = {}] = elicitations as {
        url: string;
        elicitationId: string;
      }[];
      await enter('webKey', 'key-of-web', person, new URL(url).pathname.slice(8));
      await vi.waitFor(() => expect(completed).toEqual([elicitationId]), 5_000);
      expect(said(await client.callTool(call('web_seen'))).headers['x-key']).toBe('key-of-web');
      await client.close();
    });

    it.each(['own', 'web'])(
      'is asked for in 2026-07-28 by input_required, and the very call goes on: %s (C4-01, C7-04)',
      async (key) => {
        const person = await newPerson();
        const { client, connect } = await connectOpening(route, person, { pin: '2026-07-28' });
        const asked: string[] = [];
        client.setRequestHandler('elicitation/create', async ({ params }) => {
          const { url, message } = params as { url: string; message: string };
          asked.push(message);
          // A person takes longer than a client.
          setTimeout(() => void enter(`${key}Key`, 'late-key', person, new URL(url).pathname.slice(8)), 300);
          return { action: 'accept' };
        });
        await connect();
        const [seen, open] = await Promise.all([
          client.callTool(call(key === 'own' ? 'own_surroundings' : 'web_seen')),
          client.callTool(call('free_echo', { text: 'x' })),
        ]);
        const { env, headers } = said(seen);
        expect(key === 'own' ? env.NOTION_TOKEN : headers['x-key']).toBe('late-key');
        expect(said(open).pid).toBeGreaterThan(0);
        expect(asked).toHaveLength(1);
        expect(asked[0]).toContain(key === 'own' ? 'Notion key' : 'Web key');
        await client.close();
      },
    );
  },
);
