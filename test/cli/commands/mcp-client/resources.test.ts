import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { registerResources, runResources } from '../../../../src/cli/commands/mcp-client/resources.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { echoServer, startSessionServer } from '../../../client/support/sdk-servers.ts';
import { startLoggedIn, testIo } from '../../support/client-commands.ts';

const image = Buffer.from([0x89, 0x50, 0, 0xff]);

function notesServer() {
  return startSessionServer(() => {
    const made = echoServer();
    const about = { description: 'What is new', mimeType: 'text/plain' };
    made.registerResource('today', 'notes://today', about, () => ({
      contents: [{ uri: 'notes://today', text: 'milk\u001b[1m' }],
    }));
    made.registerResource('picture', 'notes://picture', {}, () => ({
      contents: [{ uri: 'notes://picture', mimeType: 'image/png', blob: image.toString('base64') }],
    }));
    made.registerResource(
      'by day',
      new ResourceTemplate('notes://{day}', { list: undefined }),
      {},
      (uri) => ({
        contents: [{ uri: uri.href, text: uri.href }],
      }),
    );
    return made;
  });
}

describe('gatehouse resources', () => {
  it('lists resources and templates as a table', async () => {
    const { url } = await notesServer();
    const { io, written } = testIo();
    await runResources({ url }, {}, io);
    expect(written.stdout.split('\n')).toEqual([
      'URI              NAME     TYPE        DESCRIPTION',
      'notes://today    today    text/plain  What is new',
      'notes://picture  picture',
      'notes://{day}    by day',
      '',
    ]);
  });

  it('lists them as one JSON object through the command line', async () => {
    const { url } = await notesServer();
    const { io, written } = testIo();
    const program = new Command();
    registerResources(program, io);
    await program.parseAsync(['node', 'gatehouse', 'resources', url, '--json']);
    expect(JSON.parse(written.stdout)).toMatchObject({
      resources: [{ uri: 'notes://today' }, { uri: 'notes://picture' }],
      resourceTemplates: [{ uriTemplate: 'notes://{day}' }],
    });
  });

  it('reads one: text for a person, anything else by name and size (T-190)', async () => {
    const { url } = await notesServer();
    const { io, written } = testIo();
    await runResources({ url, uri: 'notes://today' }, {}, io);
    await runResources({ url, uri: 'notes://picture' }, {}, io);
    expect(written.stdout).toBe('milk\n[notes://picture image/png, 4 bytes; to keep it: --output <file>]\n');
  });

  it('keeps one in a file, byte for byte', async () => {
    const { url } = await notesServer();
    const { io, written } = testIo();
    const output = join(testFolder(), 'picture.png');
    await runResources({ url, uri: 'notes://picture' }, { output }, io);
    expect(readFileSync(output).equals(image)).toBe(true);
    expect(written.stdout).toBe('');
    expect(written.stderr).toContain('4 bytes');
  });

  it('ends with a code that says what went wrong', async () => {
    const { url } = await notesServer();
    const { io } = testIo();
    await expect(runResources({ url, uri: 'none://1' }, {}, io)).rejects.toMatchObject({ exitCode: 6 });
    await expect(runResources({ url }, { output: 'x' }, io)).rejects.toMatchObject({ exitCode: 2 });
    const output = '/no/such/folder/x';
    await expect(runResources({ url, uri: 'notes://today' }, { output }, io)).rejects.toMatchObject({
      exitCode: 2,
    });
  });

  it('says that there are none, and prints nothing else', async () => {
    const { mcp, io, written } = await startLoggedIn();
    await runResources({ url: mcp.url }, {}, io);
    expect(written).toEqual({ stdout: '', stderr: 'The server has no resources.\n' });
  });
});
