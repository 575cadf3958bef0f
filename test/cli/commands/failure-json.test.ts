import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { CliError } from '../../../src/cli/cli-error.ts';
import { runCall } from '../../../src/cli/commands/call.ts';
import { explainFailure } from '../../../src/cli/commands/client-failure.ts';
import { failureAsJson, printsFailure } from '../../../src/cli/commands/failure-json.ts';
import { runPrompts } from '../../../src/cli/commands/prompts.ts';
import { runResources } from '../../../src/cli/commands/resources.ts';
import { runTools } from '../../../src/cli/commands/tools.ts';
import { ClientError } from '../../../src/client/index.ts';
import { startLoggedIn, testIo } from '../support/client-commands.ts';

const url = 'https://mcp.example/mcp';

const asJson = (error: unknown) => failureAsJson(explainFailure(error, url) as CliError);

describe('a failure as JSON', () => {
  const data = { reason: 'credential_missing', url: 'https://gate.example/account/credentials' };
  const answered = new ProtocolError(-32603, 'It cannot be used yet.\nOpen the page.', data);

  it('is what the server answered, as it is, also where the SDK wrapped it', () => {
    const expected = { code: -32603, message: 'It cannot be used yet.\nOpen the page.', data };
    expect(asJson(answered)).toEqual(expected);
    const outer = new SdkError(SdkErrorCode.EraNegotiationFailed, 'probe failed', {}, { cause: answered });
    expect(asJson(outer)).toEqual(expected);
    expect(asJson(new ProtocolError(-1, 'no'))).toEqual({ code: -1, message: 'no' });
  });

  it('is else a sentence with its reason and what to do, and nothing of what the SDK holds (T-191)', () => {
    expect(asJson(new ClientError('no_registration', 'x'))).toEqual({
      reason: 'no_registration',
      message: 'x',
      hint: 'To give a client id: --client-id <id>',
    });
    const held = new SdkError(SdkErrorCode.ConnectionClosed, 'closed', { authorization: 'canary' });
    expect(asJson(held)).toEqual({ message: 'The server cannot be used: closed' });
  });

  it('is printed only where JSON is asked for, and thrown again', () => {
    const failure = new CliError('no', 6);
    for (const [json, stdout] of [
      [true, '{\n  "error": {\n    "message": "no"\n  }\n}\n'],
      [false, ''],
    ] as const) {
      const { io, written } = testIo();
      expect(() => printsFailure({ json }, io)(failure)).toThrow(failure);
      expect(written.stdout).toBe(stdout);
    }
  });
});

describe('with --json', () => {
  it.each([
    ['tools', (at, io) => runTools(at, { json: true }, io)],
    ['call', (at, io) => runCall({ url: at, tool: 'echo' }, { json: true }, io)],
    ['resources', (at, io) => runResources({ url: at }, { json: true }, io)],
    ['prompts', (at, io) => runPrompts({ url: at, name: 'p' }, { json: true }, io)],
  ] as [string, (at: string, io: ReturnType<typeof testIo>['io']) => Promise<void>][])(
    'gatehouse %s prints that a login is needed, and no token (T-191)',
    async (_name, run) => {
      const { as, mcp, io, written } = await startLoggedIn();
      as.accessTokens.clear();
      await expect(run(mcp.url, io)).rejects.toMatchObject({ exitCode: 3 });
      expect(JSON.parse(written.stdout)).toEqual({
        error: {
          reason: 'login_required',
          message: expect.any(String),
          hint: expect.stringContaining(`login ${mcp.url}`),
        },
      });
      expect(written.stdout).not.toMatch(/\bat\b|Bearer/);
    },
  );

  it('gatehouse call prints the error of the server, which stands on standard error as a sentence', async () => {
    const { mcp, io, written } = await startLoggedIn();
    await expect(runCall({ url: mcp.url, tool: 'echo' }, { json: true }, io)).rejects.toMatchObject({
      exitCode: 6,
      message: 'The server answered with an error: Method not found',
    });
    expect(JSON.parse(written.stdout)).toEqual({ error: { code: -32601, message: 'Method not found' } });
  });
});
