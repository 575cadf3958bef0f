import { ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { runCall } from '../../../../src/cli/commands/mcp-client/call.ts';
import { canAsk } from '../../../../src/cli/commands/mcp-client/call-elicitation.ts';
import { echoServer, startSessionServer } from '../../../client/support/sdk-servers.ts';
import { testIo } from '../../support/client-commands.ts';
import { terminalIo } from '../../support/terminal.ts';

const requestedSchema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name'],
};
const urlMode = { mode: 'url', elicitationId: '1', message: 'Pay', url: 'https://pay.example.com/x?id=1' };

/** A server whose tool gives back what the person answered. */
function askingServer(params: object = { message: 'Who are you?\u001b[2J', requestedSchema }) {
  return startSessionServer(() => {
    const made = echoServer();
    made.registerTool('ask', {}, async ({ sendRequest }) => {
      const answer = await sendRequest(
        { method: 'elicitation/create', params: params as never },
        ElicitResultSchema,
      );
      return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
    });
    return made;
  });
}

async function answer(url: string, io: Parameters<typeof runCall>[2], written: { stdout: string }) {
  await runCall({ url, tool: 'ask' }, {}, io);
  return JSON.parse(written.stdout) as unknown;
}

describe('a server that asks in the middle of a call', () => {
  it('has its form filled in at the terminal, until each field fits (C7-03)', async () => {
    const { url } = await askingServer();
    const { io, written, unanswered } = terminalIo([
      { to: /name \(string\):/, with: 'Ada\n' },
      { to: /age \(integer, may be empty\):/, with: 'old\n' },
      { to: /This is no integer/, with: '36\n' },
      { to: /Send this/, with: 'y\n' },
    ]);
    expect(await answer(url, io, written)).toEqual({ action: 'accept', content: { name: 'Ada', age: 36 } });
    expect(unanswered()).toBe(0);
    expect(written.stderr).toContain('Who are you?');
    expect(written.stderr).not.toContain('\u001b[2J');
  });

  it.each([
    ['n\n', 'decline'],
    ['cancel\n', 'cancel'],
    ['\u0003', 'cancel'],
  ])('is told where the person will not: %j', async (word, action) => {
    const { url } = await askingServer({
      message: 'Well?',
      requestedSchema: { type: 'object', properties: {} },
    });
    const { io, written } = terminalIo([{ to: /Send this/, with: word }]);
    expect(await answer(url, io, written)).toEqual({ action });
  });

  it('has a URL opened only after the person saw all of it and agreed (C7-04)', async () => {
    const { url } = await askingServer(urlMode);
    const agreed = terminalIo([{ to: /Open pay\.example\.com/, with: 'y\n' }]);
    expect(await answer(url, agreed.io, agreed.written)).toEqual({ action: 'accept' });
    expect(agreed.written.stderr).toContain(urlMode.url);
    const refused = terminalIo([{ to: /Open pay\.example\.com/, with: '\n' }]);
    expect(await answer(url, refused.io, refused.written)).toEqual({ action: 'decline' });
  });

  it('is not answered where there is nobody: the client does not say it could be asked', async () => {
    const { url } = await askingServer();
    const { io } = testIo();
    expect(canAsk(io)).toBe(false);
    await expect(runCall({ url, tool: 'ask' }, {}, io)).rejects.toMatchObject({ exitCode: 5 });
  });
});
