import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Served, serveGatehouse } from '../../support/served.ts';
import { structured, textsOf } from './support/answers.ts';
import { connectSdkV1 } from './support/sdk-v1.ts';

let served: Served;
beforeAll(async () => {
  served = await serveGatehouse();
});
afterAll(() => served.stop());

describe('the SDK v1 client, given nothing but the MCP URL', () => {
  it('registers, sends its person to consent, and calls tools', async () => {
    const { client, provider } = await connectSdkV1(served.mcpUrl);
    expect(structured(await client.callTool({ name: 'whoami' }))).toMatchObject({
      client: provider.clientInformation()?.client_id,
      scopes: ['notes:read', 'notes:write'],
    });
    const text = 'Water the plants';
    expect(structured(await client.callTool({ name: 'add_note', arguments: { text } })).text).toBe(text);
    expect(textsOf(await client.callTool({ name: 'search_notes', arguments: { query: 'plants' } }))).toEqual([
      text,
    ]);
    await client.close();
  });

  it('is told in a 403 which scope a call needs that its person left out (A8-04)', async () => {
    const { client, challenges } = await connectSdkV1(served.mcpUrl, { scopes: ['notes:read'] });
    expect(structured(await client.callTool({ name: 'whoami' })).scopes).toEqual(['notes:read']);
    await expect(client.callTool({ name: 'add_note', arguments: { text: 'no' } })).rejects.toMatchObject({
      code: 403,
    });
    expect(challenges[0]).toMatch(/error="insufficient_scope"/);
    expect(challenges[0]).toMatch(/scope="notes:write"/);
    expect(textsOf(await client.callTool({ name: 'search_notes', arguments: { query: 'no' } }))).toEqual([]);
    await client.close();
  });
});
