import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { repository } from '../../support/program.ts';
import { serverForms } from './support/forms.ts';
import { startFront } from './support/front.ts';
import { everyContent } from './support/tools.ts';

describe.each(serverForms)('the Rest transport of $name', (form) => {
  it('keeps the messages and their order: initialize, lists, calls, errors, notifications (B7-18)', async () => {
    const front = await startFront(form);
    onTestFinished(() => front.stop());
    const post = (message: object) =>
      fetch(front.rest.url, {
        method: 'POST',
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          authorization: `Bearer ${front.rest.accessToken}`,
        },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      });
    const ask = async (id: unknown, method: string, params: object = {}) =>
      (await post({ id, method, params })).json() as Promise<Record<string, unknown>>;

    const clientInfo = { name: 'rest', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    expect(await ask('first', 'initialize', params)).toMatchObject({
      jsonrpc: '2.0',
      id: 'first',
      result: { protocolVersion: '2025-06-18', serverInfo: { name: 'features' } },
    });
    expect((await post({ method: 'notifications/initialized' })).status).toBe(202);
    expect(await ask(1, 'tools/call', { name: 'contents', arguments: {} })).toMatchObject({
      id: 1,
      result: { content: everyContent },
    });
    expect(await ask('1', 'resources/read', { uri: 'feature://text/1' })).toMatchObject({
      id: '1',
      result: { contents: [{ text: 'text 1' }] },
    });
    expect(await ask(2, 'no/such/method')).toMatchObject({ id: 2, error: { code: -32601 } });
  });
});

describe('the page on the Rest transport', () => {
  it('says how to connect and what is exchanged (B7-18)', async () => {
    const page = await readFile(join(repository, 'docs/rest.md'), 'utf8');
    for (const said of ['POST', '/rest', 'application/json', 'initialize', '202', 'Authorization'])
      expect(page).toContain(said);
  });
});
