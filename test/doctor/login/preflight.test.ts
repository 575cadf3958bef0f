import { describe, expect, it } from 'vitest';
import { examinedClient, judgeBadRequest, preflight } from '../../../src/doctor/login/preflight.ts';
import { refusal } from '../support/active-faults.ts';
import { subjectOf } from '../support/subject.ts';

const bad = {
  changes: { response_type: 'token' },
  named: 'A request for the implicit grant',
  taken: 'fail',
  fix: 'Refuse it.',
} as const;

describe('a request that no user sees', () => {
  it('is measured by what a good one gets, which is sent once', async () => {
    const { subject, server } = await subjectOf();
    expect(await judgeBadRequest(subject, bad)).toMatchObject({ verdict: 'pass' });
    expect(await judgeBadRequest(subject, bad)).toMatchObject({ verdict: 'pass' });
    const types = server.requests
      .filter(({ path }) => path === '/authorize')
      .map(({ query }) => query.get('response_type'));
    expect(types).toEqual(['code', 'token', 'token']);
  });

  it('is not judged where not even a good one is taken', async () => {
    const { subject } = await subjectOf((server) => server.change('GET /authorize', () => ({ status: 400 })));
    expect(await judgeBadRequest(subject, bad)).toMatchObject({
      verdict: 'unknown',
      because: 'LOGIN-REQUEST',
    });
  });

  it('has the first client that could be registered', async () => {
    const { subject } = await subjectOf((server) =>
      server.change('POST /register', (reply, { body }) =>
        body.includes('application_type') ? refusal('invalid_client_metadata') : reply,
      ),
    );
    const ready = await subject.fact(preflight);
    expect(ready).toMatchObject({ kind: 'ready', good: { kind: 'code' } });
  });

  it('is not sent where there is no client', async () => {
    const { subject, server } = await subjectOf((one) =>
      one.change('POST /register', () => refusal('access_denied', 403)),
    );
    expect(await subject.fact(examinedClient)).toMatchObject({ judgement: { because: 'REG-LOOPBACK-PORT' } });
    expect(await subject.fact(preflight)).toMatchObject({ kind: 'unready' });
    expect(server.asked()).not.toContain('GET /authorize');
  });
});
