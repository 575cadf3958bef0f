import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import {
  explainFailure,
  loginCommand,
  requireServerUrl,
} from '../../../../src/cli/commands/mcp-client/client-failure.ts';
import { programName } from '../../../../src/cli/output.ts';
import {
  ClientError,
  DiscoveryError,
  InsufficientScopeError,
  LoginRequiredError,
} from '../../../../src/client/index.ts';

const url = 'https://mcp.example/mcp';

describe('a failure of the client', () => {
  it.each([
    [new LoginRequiredError(url, 'No login.'), 3, `Run: ${programName} login ${url}`],
    [
      new InsufficientScopeError(url, { required: ['w'], missing: ['w'], union: ['r', 'w'] }),
      4,
      `Run: ${programName} login ${url} --scope 'r w'`,
    ],
    [
      new InsufficientScopeError(
        url,
        { required: ['w'], missing: ['w'], union: ['r', 'w'] },
        { machine: { grant: 'client_credentials', clientId: 'ci', proof: 'secret' } },
      ),
      4,
      [
        `Run: ${programName} login ${url} --scope 'r w' --grant client_credentials --client-id ci --client-secret-file <file>`,
        'If that does not help: the operator of the server must first allow the client ci this scope',
      ].join('\n'),
    ],
    [
      new InsufficientScopeError(
        url,
        { required: ['w'], missing: ['w'], union: ['r', 'w'] },
        { chosen: { dpop: true } },
      ),
      4,
      `Run: ${programName} login ${url} --scope 'r w' --dpop`,
    ],
    [
      new LoginRequiredError(url, 'No login.', { chosen: { dpop: true, withoutResource: true } }),
      3,
      `Run: ${programName} login ${url} --dpop --no-resource`,
    ],
    [
      new LoginRequiredError(url, 'No login.', {
        issuer: 'https://as.example',
        chosen: { withoutResource: true },
      }),
      3,
      `Run: ${programName} login ${url} --no-resource --issuer https://as.example`,
    ],
    [
      new LoginRequiredError(url, 'No login.', { issuer: 'https://as.example', chosen: { dpop: true } }),
      3,
      `Run: ${programName} login ${url} --dpop`,
    ],
    [
      new LoginRequiredError(url, 'No login.', {
        machine: { grant: 'workload_identity', clientId: 'de ploy', proof: 'assertion' },
      }),
      3,
      `Run: ${programName} login ${url} --grant workload_identity --client-id 'de ploy' --assertion-file <file>`,
    ],
    [
      new LoginRequiredError(url, 'No login.', {
        issuer: 'https://as.example',
        machine: { grant: 'client_credentials', clientId: 'ci', proof: 'key' },
      }),
      3,
      `Run: ${programName} login ${url} --grant client_credentials --client-id ci --private-key <file> --issuer https://as.example`,
    ],
    [new ClientError('authorization_denied', 'x'), 3, undefined],
    [new ClientError('login_timed_out', 'x'), 3, undefined],
    [new ClientError('unreachable', 'x'), 6, undefined],
    [new ClientError('issuer_mismatch', 'x'), 6, undefined],
    [
      new DiscoveryError(new ClientError('bad_url', 'x'), []),
      6,
      `To see what is wrong: ${programName} doctor ${url}`,
    ],
    [
      new DiscoveryError(new ClientError('authorization_server_changed', 'x'), []),
      6,
      expect.stringContaining('leave out --issuer'),
    ],
    [new ClientError('store_unusable', 'x'), 7, undefined],
    [new ClientError('unknown_store', 'x'), 2, undefined],
    [new ClientError('bad_key', 'x'), 2, undefined],
    [
      new ClientError('callback_port_unusable', 'x'),
      2,
      'To choose another one: --callback-port <port>; without it a free port is used',
    ],
    [
      new ClientError('registration_refused', 'x'),
      6,
      'To give an initial access token: --initial-access-token-file <file>; to give a client id: --client-id <id>',
    ],
    [new ClientError('no_registration', 'x'), 6, 'To give a client id: --client-id <id>'],
    [new ProtocolError(-32602, 'unknown tool'), 6, undefined],
    [new SdkError(SdkErrorCode.RequestTimeout, 'late'), 6, 'To wait longer: --timeout <seconds>'],
  ])('%s gives exit code %i and the hint %s', (error, exitCode, hint) => {
    expect(explainFailure(error, url)).toMatchObject({ name: 'CliError', exitCode, hint });
  });

  it.each([
    [{ timeout: 60_000 }, 'The server did not answer within 60 s.'],
    [{ timeout: 500 }, 'The server did not answer within 0.5 s.'],
    [undefined, 'The server did not answer in time.'],
  ])('to answer in time is told in words of ours: %j', (data, message) => {
    const late = new SdkError(SdkErrorCode.RequestTimeout, 'Version negotiation probe timed out', data);
    expect(explainFailure(late, url)).toMatchObject({ message, cause: late });
  });

  it('that is explained already stays as it is', () => {
    const explained = explainFailure(new LoginRequiredError(url, 'No login.'), url);
    expect(explainFailure(explained, '')).toBe(explained);
  });

  it('is found inside what the MCP SDK wrapped around it', () => {
    const inner = new LoginRequiredError(url, 'No login.');
    const outer = new SdkError(SdkErrorCode.EraNegotiationFailed, 'probe failed', {}, { cause: inner });
    expect(explainFailure(outer, url)).toMatchObject({ exitCode: 3 });
  });

  it('that nobody foresaw is given back', () => {
    const error = new TypeError('bug');
    expect(explainFailure(error, url)).toBe(error);
  });

  it('is printed without escape sequences and not at any length (T-190)', () => {
    const error = explainFailure(new ProtocolError(-1, `\u001b[31m${'x'.repeat(9999)}`), url) as Error;
    expect(error.message).not.toContain('\u001b');
    expect(error.message.length).toBeLessThan(400);
  });
});

describe('the login command', () => {
  it('is quoted for a shell', () => {
    expect(loginCommand('https://x/?a=1&b=$(id)', ["it's"])).toBe(
      `Run: ${programName} login 'https://x/?a=1&b=$(id)' --scope 'it'\\''s'`,
    );
  });
});

describe('the URL argument', () => {
  it.each([
    'mcp.example',
    'ftp://x',
    'http://mcp.example',
    'javascript:alert(1)',
    '--flag',
    'https://u:p@x/',
  ])('%s is wrong usage (T-182)', (bad) => {
    expect(() => requireServerUrl(bad)).toThrow(expect.objectContaining({ exitCode: 2 }));
  });

  it.each([
    ['localhost:3000/mcp', 'Did you mean http://localhost:3000/mcp?'],
    ['127.0.0.1:3000', 'Did you mean http://127.0.0.1:3000?'],
    ['[::1]:3000/mcp', 'Did you mean http://[::1]:3000/mcp?'],
    ['mcp.example.com/mcp', 'Did you mean https://mcp.example.com/mcp?'],
    ['mcp.example.com:8443', 'Did you mean https://mcp.example.com:8443?'],
    ['localhost.example.com/mcp', 'Did you mean https://localhost.example.com/mcp?'],
    ['127.example.com', 'Did you mean https://127.example.com?'],
    ['user:secret@mcp.example.com/mcp', undefined],
    ['notes', undefined],
    ['javascript:alert(1)', undefined],
    ['http://mcp.example.com/mcp', undefined],
  ])('without its scheme is answered with what was meant: %s', (given, hint) => {
    expect(() => requireServerUrl(given)).toThrow(expect.objectContaining({ exitCode: 2, hint }));
  });

  it('may be https, or http on loopback', () => {
    expect(requireServerUrl(url)).toBe(url);
    expect(requireServerUrl('http://localhost:1/mcp')).toBe('http://localhost:1/mcp');
  });
});
