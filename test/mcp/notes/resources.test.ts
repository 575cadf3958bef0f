import { describe, expect, it } from 'vitest';
import { startGate } from '../support/gate.ts';

async function startWithNote() {
  const gate = await startGate();
  const ann = await gate.connect(gate.issue('ann'));
  const added = await ann.callTool({
    name: 'add_note',
    arguments: { text: `first line ${'x'.repeat(100)}\nsecond` },
  });
  return { gate, ann, id: (added.structuredContent as { id: string }).id };
}

describe('notes as resources', () => {
  it('are listed with a short name, and the listing itself is one', async () => {
    const { ann, id } = await startWithNote();
    const { resources } = await ann.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['notes://', `notes://${id}`]);
    expect(resources[1]?.name).toMatch(/^first line x{49}…$/);
    const { resourceTemplates } = await ann.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: 'notes://{id}' }]);
  });

  it('come in pages; a cursor is good for the account it was given to, and another is refused (FA-34)', async () => {
    const gate = await startGate();
    const ann = await gate.connect(gate.issue('ann'));
    for (let note = 0; note < 60; note++)
      await ann.callTool({ name: 'add_note', arguments: { text: `note ${note}` } });
    const first = await ann.request({ method: 'resources/list' });
    expect([first.resources.length, first.resources[0]?.uri]).toEqual([50, 'notes://']);
    const cursor = first.nextCursor as string;
    const next = await ann.request({ method: 'resources/list', params: { cursor } });
    expect([next.resources.length, next.nextCursor]).toEqual([11, undefined]);
    const uris = [...first.resources, ...next.resources].map(({ uri }) => uri);
    expect(new Set(uris).size).toBe(61);
    const bob = await gate.connect(gate.issue('bob'));
    for (const [client, wrong] of [
      [bob, cursor],
      [ann, 'made up'],
    ] as const)
      await expect(
        client.request({ method: 'resources/list', params: { cursor: wrong } }),
      ).rejects.toMatchObject({ code: -32602 });
  });

  it('announce no changes, which are not told (FA-34)', async () => {
    const { ann } = await startWithNote();
    expect(ann.getServerCapabilities()?.resources?.listChanged).toBe(false);
  });

  it('are read one by one, or all under notes://', async () => {
    const { ann, id } = await startWithNote();
    const one = await ann.readResource({ uri: `notes://${id}` });
    expect(one).toMatchObject({
      contents: [{ mimeType: 'text/plain', text: expect.stringContaining('second') }],
    });
    const all = await ann.readResource({ uri: 'notes://' });
    expect(JSON.parse((all.contents[0] as { text: string }).text)).toMatchObject({ notes: [{ id }] });
  });

  it('that are unknown have the code of the revision that is spoken (FA-33)', async () => {
    const { gate } = await startWithNote();
    const token = gate.issue('bob');
    const uri = 'notes://unknown';
    for (const revision of ['2025-03-26', '2025-11-25']) {
      const session = await gate.initialize(token, revision);
      const { error } = await gate.call(token, session, 'resources/read', { uri });
      expect(error).toMatchObject({ code: -32002, data: { uri } });
    }
    const answer = await gate.callModern(token, 'resources/read', { uri });
    expect(await answer.json()).toMatchObject({ error: { code: -32602, data: { uri } } });
  });

  it('of another account are not found', async () => {
    const { gate, id } = await startWithNote();
    const bob = await gate.connect(gate.issue('bob'));
    const failure = (uri: string) =>
      bob.readResource({ uri }).catch(({ code, message }) => ({ code, message }));
    const [foreign, unknown] = [`notes://${id}`, 'notes://unknown'];
    expect(await failure(foreign)).toEqual({
      code: -32602,
      message: expect.stringContaining(`not found: ${foreign}`),
    });
    expect(await failure(unknown)).toEqual({
      code: -32602,
      message: expect.stringContaining(`not found: ${unknown}`),
    });
    expect((await bob.listResources()).resources.map(({ uri }) => uri)).toEqual(['notes://']);
  });

  it.each(['notes://', 'NOTES://', ' notes://', 'notes:///'])(
    'need notes:read, however their URI is written: %j (A8-04, T-102)',
    async (beginning) => {
      const { gate, id } = await startWithNote();
      const token = gate.issue('ann', { scopes: ['notes:write'] });
      const session = await gate.initialize(token);
      const response = await gate.send(token, {
        headers: { 'mcp-session-id': session },
        json: { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: `${beginning}${id}` } },
      });
      expect(response.status).toBe(403);
      expect(response.headers.get('www-authenticate')).toContain('scope="notes:read"');
    },
  );

  it('are not even named to a caller without notes:read', async () => {
    const { gate } = await startWithNote();
    const blind = await gate.connect(gate.issue('ann', { scopes: [] }));
    expect((await blind.listResources()).resources.map(({ uri }) => uri)).toEqual(['notes://']);
  });
});
