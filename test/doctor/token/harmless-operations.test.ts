import { describe, expect, it } from 'vitest';
import { firstSession } from '../../../src/doctor/login/session.ts';
import {
  challengeParameters,
  findRefusal,
  firstRefusal,
  scopesOf,
} from '../../../src/doctor/token/harmless-operations.ts';
import { withReadOnlyTools } from '../support/active-faults.ts';
import { subjectOf } from '../support/subject.ts';

describe('what the doctor dares to call', () => {
  it('is only what says of itself that it reads', async () => {
    const { subject, server } = await subjectOf();
    expect(await subject.fact(firstRefusal)).toBeUndefined();
    expect(server.requests.filter(({ body }) => body.includes('tools/call'))).toEqual([]);
  });

  it('stops at the first refusal, and names the operation', async () => {
    const { subject } = await subjectOf(withReadOnlyTools);
    expect(await subject.fact(firstRefusal)).toMatchObject({
      operation: 'tools/call write_note',
      refusal: { status: 403 },
      held: ['notes:read'],
    });
  });

  it('may be the connection itself', async () => {
    const { subject } = await subjectOf((server) =>
      server.change('POST /mcp', (reply, { headers }) =>
        headers.authorization === undefined ? reply : { status: 403 },
      ),
    );
    const session = await subject.fact(firstSession);
    if (session.kind === 'missing') throw new Error(session.judgement.saw);
    expect(await findRefusal(subject, session)).toMatchObject({
      operation: 'connecting',
      refusal: { challenge: null },
    });
    expect(scopesOf({ ...session, held: { accessToken: 'a' } })).toEqual(session.pending.scopes);
  });
});

it('the parameters of a challenge are those of its Bearer or DPoP part', () => {
  expect(challengeParameters('Basic realm="x", Bearer scope="a b"')).toMatchObject({ scope: 'a b' });
  expect(challengeParameters(null)).toEqual({});
});
