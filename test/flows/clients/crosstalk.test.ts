import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ada } from '../../support/gatehouse.ts';
import { grace, type Served, serveGatehouse } from '../../support/served.ts';
import { structured, textsOf } from './support/answers.ts';
import { connectSdkV1 } from './support/sdk-v1.ts';
import { connectSdkV2 } from './support/sdk-v2.ts';

const callsEach = 100;

let served: Served;
beforeAll(async () => {
  served = await serveGatehouse();
  await served.addAccount(grace);
});
afterAll(() => served.stop());

interface ToolCaller {
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<object>;
}

describe('two accounts, each with three clients of different SDKs and eras', () => {
  it('get their own answers only, with all calls in flight at once and the same request ids (T-127)', async () => {
    const { mcpUrl } = served;
    const connected = await Promise.all(
      [ada, grace].flatMap((person) => [
        connectSdkV1(mcpUrl, { person }).then((one) => ({ person, ...one })),
        connectSdkV2(mcpUrl, 'legacy', { person }).then((one) => ({ person, ...one })),
        connectSdkV2(mcpUrl, { pin: '2026-07-28' }, { person }).then((one) => ({ person, ...one })),
      ]),
    );
    const clients = connected.map(({ person, client, provider }) => ({
      person,
      caller: client as ToolCaller,
      clientId: provider.clientInformation()?.client_id,
    }));
    expect(new Set(clients.map(({ clientId }) => clientId)).size).toBe(6);
    const accounts = await Promise.all(
      clients.map(async ({ caller }) => structured(await caller.callTool({ name: 'whoami' })).account),
    );
    expect(new Set(accounts).size).toBe(2);

    const answers = await Promise.all(
      clients.flatMap(({ person, caller, clientId }, at) =>
        Array.from({ length: callsEach }, async (_, turn) => {
          if (turn % 2 === 0) {
            const { account, client } = structured(await caller.callTool({ name: 'whoami' }));
            return account === accounts[at] && client === clientId;
          }
          const text = `${person.email} ${at} ${turn}`;
          const note = structured(await caller.callTool({ name: 'add_note', arguments: { text } }));
          const found = await caller.callTool({ name: 'search_notes', arguments: { query: '@example.com' } });
          const texts = textsOf(found);
          return note.text === text && texts.length > 0 && texts.every((one) => one.startsWith(person.email));
        }),
      ),
    );
    expect(answers).toHaveLength(6 * callsEach);
    expect(answers.filter((right) => !right)).toEqual([]);
    for (const { client } of connected) await client.close();
  });
});
