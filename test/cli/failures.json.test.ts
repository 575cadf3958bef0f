import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import type { CliError } from '../../src/cli/cli-error.ts';
import { explainFailure } from '../../src/cli/commands/mcp-client/client-failure.ts';
import { failureAsJson } from '../../src/cli/failures.ts';
import { ClientError } from '../../src/client/index.ts';

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
    expect(asJson(held)).toEqual({ reason: 'unreachable', message: 'The server cannot be used: closed' });
  });
});
