import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens } from '../../support/oauth.ts';

describe('the notes of the server that comes along', () => {
  it.each(['legacy', { pin: '2026-07-28' }] as const)(
    'are no way to files or other hosts: every other address is unknown (%j; T-149)',
    async (mode) => {
      const gatehouse = await startGatehouse();
      onTestFinished(() => gatehouse.stop());
      const { tokens } = await obtainTokens(gatehouse);
      const secret = join(gatehouse.folder, 'secret.txt');
      await writeFile(secret, 'top secret');
      await symlink(secret, join(gatehouse.folder, 'link'));
      const client = new Client({ name: 'curious', version: '1' }, { versionNegotiation: { mode } });
      onTestFinished(() => client.close());
      await client.connect(
        new StreamableHTTPClientTransport(new URL(gatehouse.mcpUrl), {
          requestInit: { headers: { authorization: `Bearer ${tokens.access_token}` } },
        }),
      );
      for (const uri of [
        'file:///etc/passwd',
        `file://${secret}`,
        `notes://${secret}`,
        'notes://../../etc/passwd',
        'notes://..%2f..%2fetc%2fpasswd',
        `notes://../${join(gatehouse.folder, 'link')}`,
        'notes://link',
        'http://169.254.169.254/latest/meta-data/',
        `${gatehouse.url}/healthz`,
      ])
        await expect(client.readResource({ uri }), uri).rejects.toMatchObject({ code: -32602 });
      const text = `${secret} file:///etc/passwd`;
      await client.callTool({ name: 'add_note', arguments: { text } });
      const found = await client.callTool({ name: 'search_notes', arguments: { query: '/etc/passwd' } });
      expect(JSON.stringify(found.structuredContent)).toContain(text);
      expect(JSON.stringify(found)).not.toMatch(/top secret|root:/);
    },
  );
});
