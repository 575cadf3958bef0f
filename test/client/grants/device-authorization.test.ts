import { describe, expect, it } from 'vitest';
import { pollForTokens } from '../../../src/client/grants/device-authorization.ts';
import {
  ClientError,
  type DeviceInstructions,
  type DeviceLoginOptions,
  discover,
  loginWithDevice,
} from '../../../src/client/index.ts';
import type { TokenAnswer } from '../../../src/client/tokens/token-request.ts';
import { startOfTime, testContext } from '../support/context.ts';
import { testRegistration } from '../support/credentials.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';

const answer = {
  device_code: 'very-secret',
  user_code: 'WDJB-MJHT',
  verification_uri: 'https://as.example/device',
  expires_in: 600,
  interval: 0.001,
};

async function setUp(change: Record<string, unknown> = {}) {
  const as = await startAuthorizationServer();
  const issuer = as.origin;
  const metadata = 'GET /.well-known/oauth-authorization-server';
  const held = as.routes[metadata];
  if (typeof held === 'function') throw new Error('metadata is fixed');
  const document = { ...Object(held?.json), device_authorization_endpoint: `${issuer}/device` };
  as.routes[metadata] = { json: document };
  as.routes['POST /device'] = { json: { ...answer, ...change } };
  as.routes['POST /token'] = { json: { access_token: 'at', token_type: 'bearer', refresh_token: 'rt' } };
  const mcp = await startMcpServer(as, { scopes: ['read'] });
  const shown: DeviceInstructions[] = [];
  const context = testContext();
  const found = await discover(context, mcp.url);
  const registration = testRegistration({ issuer });
  const run = (options: Partial<DeviceLoginOptions> = {}) =>
    loginWithDevice(context, found, registration, {
      show: (instructions) => void shown.push(instructions),
      ...options,
    });
  return { as, mcp, found, shown, run };
}

describe('a login by device code', () => {
  it('tells the user where to enter which code, then takes the tokens (A7-01)', async () => {
    const complete = 'https://as.example/device?code=WDJB-MJHT';
    const { as, mcp, shown, run } = await setUp({ verification_uri_complete: complete });
    expect(await run()).toMatchObject({ accessToken: 'at', refreshToken: 'rt', scopes: ['read'] });
    expect(shown).toEqual([
      {
        userCode: 'WDJB-MJHT',
        url: 'https://as.example/device',
        completeUrl: complete,
        expiresAt: startOfTime + 600,
      },
    ]);
    const sent = as.requests
      .filter(({ method }) => method === 'POST')
      .map(({ path, body }) => [path, Object.fromEntries(new URLSearchParams(body))]);
    expect(sent).toEqual([
      ['/device', { client_id: 'client', resource: mcp.url, scope: 'read' }],
      [
        '/token',
        {
          grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
          device_code: 'very-secret',
          client_id: 'client',
          resource: mcp.url,
        },
      ],
    ]);
  });

  it.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'http://as.example/device',
    'https://x/"&calc&"',
    '--flag',
    'https://u:p@as.example/',
  ])('shows the user no page like %s (T-182)', async (url) => {
    for (const member of ['verification_uri', 'verification_uri_complete']) {
      const { shown, run } = await setUp({ [member]: url });
      await expect(run()).rejects.toMatchObject({ reason: 'bad_url' });
      expect(shown).toEqual([]);
    }
  });

  it.each(['\u001b[31mRED', 'A\nB', '', 'x'.repeat(65), 'ÄÖ'])(
    'shows the user no code like %j (T-190)',
    async (code) => {
      const { shown, run } = await setUp({ user_code: code });
      await expect(run()).rejects.toMatchObject({ message: expect.not.stringContaining('very-secret') });
      expect(shown).toEqual([]);
    },
  );

  it('does not wait for years because a server says so (T-186)', async () => {
    const { shown, run } = await setUp({ expires_in: 1e9, interval: 1e8 });
    await expect(run()).rejects.toMatchObject({ reason: 'login_timed_out' });
    expect(shown[0]?.expiresAt).toBe(startOfTime + 1800);
  });

  it('ends at once when the caller ends it', async () => {
    const { as, run } = await setUp({ interval: 500 });
    const controller = new AbortController();
    const gone = new Error('the browser was faster');
    const login = run({ signal: controller.signal, show: () => controller.abort(gone) });
    await expect(login).rejects.toBe(gone);
    expect(as.asked()).not.toContain('POST /token');
  });

  it('ends in the middle of a wait, too', async () => {
    const { run } = await setUp({ interval: 500 });
    const controller = new AbortController();
    const gone = new Error('the browser was faster');
    const show = () => void setTimeout(() => controller.abort(gone), 5);
    await expect(run({ signal: controller.signal, show })).rejects.toBe(gone);
  });

  it('is not offered where the metadata lists no endpoint for it', async () => {
    const { found } = await setUp();
    const { device_authorization_endpoint: _, ...authorizationServer } = found.authorizationServer;
    const login = loginWithDevice(testContext(), { ...found, authorizationServer }, testRegistration(), {
      show: () => undefined,
    });
    await expect(login).rejects.toMatchObject({ reason: 'no_metadata' });
  });

  it('of a client that was registered without it asks for another registration', async () => {
    const { as, run } = await setUp();
    as.routes['POST /device'] = { status: 400, json: { error: 'unauthorized_client' } };
    await expect(run()).rejects.toMatchObject({ reason: 'client_unknown' });
  });
});

describe('device polling', () => {
  const tokens = { access_token: 'at', token_type: 'bearer' as const };
  const issued: TokenAnswer = { kind: 'issued', tokens };
  const refused = (error?: string): TokenAnswer => ({
    kind: 'refused',
    refusal: { message: `refused: ${error}`, ...(error === undefined ? {} : { error }) },
  });

  /** Plays answers in order, on a clock that moves only by waiting. */
  async function play(
    answers: (TokenAnswer | Error)[],
    options: { lifetime?: number; giveUpAfter?: number } = {},
  ) {
    const { lifetime = 600, giveUpAfter = Infinity } = options;
    const context = testContext();
    const waits: number[] = [];
    const wait = async (seconds: number) => {
      waits.push(seconds);
      context.clock.seconds += seconds;
      if (waits.length > giveUpAfter) throw new Error('given up');
    };
    const poll = async () => {
      const next = answers.shift();
      if (next === undefined) throw new Error('polled too often');
      if (next instanceof Error) throw next;
      return next;
    };
    const end = { intervalSeconds: 5, expiresAt: startOfTime + lifetime, wait };
    const outcome = await pollForTokens(context, poll, end).catch((error: unknown) => error);
    return { outcome, waits };
  }

  describe('a run of polls for a code', () => {
    it('waits before each, as long as the server says, until the user has entered it', async () => {
      const pending = refused('authorization_pending');
      expect(await play([pending, pending, issued])).toEqual({ outcome: tokens, waits: [5, 5, 5] });
    });

    it('slows down for good when it is told to', async () => {
      const { waits } = await play([refused('slow_down'), refused('authorization_pending'), issued]);
      expect(waits).toEqual([5, 10, 10]);
    });

    it.each(['timed_out', 'unreachable'] as const)('goes on at half the pace after %s', async (reason) => {
      const { outcome, waits } = await play([
        new ClientError(reason, 'x'),
        new ClientError(reason, 'x'),
        issued,
      ]);
      expect(outcome).toBe(tokens);
      expect(waits).toEqual([5, 10, 20]);
    });

    it.each([
      ['access_denied', 'authorization_denied'],
      ['expired_token', 'login_timed_out'],
      ['invalid_grant', 'token_refused'],
      ['invalid_client', 'client_unknown'],
      [undefined, 'server_error'],
    ])('ends at %s with %s', async (error, reason) => {
      const { outcome, waits } = await play([refused(error)]);
      expect(outcome).toMatchObject({ reason });
      expect(waits).toEqual([5]);
    });

    it('ends with the code, however patient the server is (T-186)', async () => {
      const { outcome, waits } = await play(Array(9).fill(refused('authorization_pending')), {
        lifetime: 17,
      });
      expect(outcome).toMatchObject({ reason: 'login_timed_out' });
      expect(waits).toEqual([5, 5, 5]);
    });

    it('ends where the caller gives up, and where a request cannot be made at all', async () => {
      expect((await play([refused('authorization_pending')], { giveUpAfter: 1 })).outcome).toMatchObject({
        message: 'given up',
      });
      const failure = new ClientError('redirected', 'x');
      expect((await play([failure])).outcome).toBe(failure);
    });
  });
});
