import { UnauthorizedError, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Served, serveGatehouse } from '../../support/served.ts';
import { structured, textsOf } from './support/answers.ts';
import { connectSdkV2 } from './support/sdk-v2.ts';

let served: Served;
beforeAll(async () => {
  served = await serveGatehouse();
});
afterAll(() => served.stop());

describe.each<{ era: string; mode: VersionNegotiationMode; version: string }>([
  { era: 'legacy', mode: 'legacy', version: '2025-11-25' },
  { era: 'pinned to 2026-07-28', mode: { pin: '2026-07-28' }, version: '2026-07-28' },
  { era: 'auto', mode: 'auto', version: '2026-07-28' },
])('the SDK v2 client, $era, given nothing but the MCP URL', ({ mode, version, era }) => {
  it('registers, sends its person to consent, and uses tools, resources and the prompt', async () => {
    const { client, provider } = await connectSdkV2(served.mcpUrl, mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);

    expect(structured(await client.callTool({ name: 'whoami' }))).toMatchObject({
      client: provider.clientInformation()?.client_id,
      scopes: ['notes:read', 'notes:write'],
    });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'add_note',
      'delete_note',
      'search_notes',
      'whoami',
    ]);

    const text = `Water the plants, ${era}`;
    const { id } = structured(await client.callTool({ name: 'add_note', arguments: { text } }));
    expect(textsOf(await client.callTool({ name: 'search_notes', arguments: { query: era } }))).toEqual([
      text,
    ]);

    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(expect.arrayContaining(['notes://', `notes://${id}`]));
    expect((await client.readResource({ uri: `notes://${id}` })).contents).toEqual([
      { uri: `notes://${id}`, mimeType: 'text/plain', text },
    ]);
    const { messages } = await client.getPrompt({ name: 'summarize_notes' });
    expect(messages.map(({ content }) => content)).toContainEqual({ type: 'text', text });
    await client.close();
  });

  it('asks its person for the scope a call lacks, and then makes the call (A8-04)', async () => {
    const { client, provider, authorizeAgain } = await connectSdkV2(served.mcpUrl, mode, {
      scopes: ['notes:read'],
    });
    const write = { name: 'add_note', arguments: { text: `Later, ${era}` } };
    await expect(client.callTool(write)).rejects.toThrow(UnauthorizedError);

    const asked = new URL(provider.authorizationUrl());
    expect(asked.searchParams.get('scope')?.split(' ')).toEqual(
      expect.arrayContaining(['notes:read', 'notes:write']),
    );
    await authorizeAgain();
    expect(structured(await client.callTool(write)).text).toBe(write.arguments.text);
    await client.close();
  });
});
