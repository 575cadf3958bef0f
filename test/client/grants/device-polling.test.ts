import { describe, expect, it } from 'vitest';
import { pollForTokens } from '../../../src/client/grants/device-polling.ts';
import { ClientError } from '../../../src/client/index.ts';
import type { TokenAnswer } from '../../../src/client/tokens/token-request.ts';
import { startOfTime, testContext } from '../support/context.ts';

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
    const { outcome, waits } = await play(Array(9).fill(refused('authorization_pending')), { lifetime: 17 });
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
