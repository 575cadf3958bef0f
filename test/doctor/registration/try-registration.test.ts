import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/doctor/ask.ts';
import { describeRefusal, isAccepted } from '../../../src/doctor/registration/try-registration.ts';
import { page, refusal, whenRegistered } from '../support/active-faults.ts';
import { examineActively } from '../support/login.ts';

function answered(status: number, text: string, type = 'application/json'): Answer {
  return {
    kind: 'answered',
    method: 'POST',
    url: 'https://as.example/register',
    evidence: [],
    status,
    headers: new Headers({ 'content-type': type }),
    text,
    truncated: false,
  };
}

describe('a refused registration in words', () => {
  it('has status, error and description', () => {
    const body = { error: 'invalid_client_metadata', error_description: 'no "native"' };
    expect(describeRefusal({ answer: answered(400, ''), body })).toBe(
      'status 400, "invalid_client_metadata" ("no \\"native\\"")',
    );
  });

  it('shows the text that came in place of JSON (CL-9)', () => {
    expect(describeRefusal({ answer: answered(403, '<h1>Forbidden</h1>', 'text/html') })).toBe(
      'status 403 and a body that is no JSON object ("text/html"): "<h1>Forbidden</h1>"',
    );
  });

  it('tells a missing error code', () => {
    expect(describeRefusal({ answer: answered(400, '{}'), body: {} })).toBe(
      'status 400 without an error code',
    );
  });
});

describe('a registration', () => {
  it('is accepted by any 2xx, and by nothing else', () => {
    expect(
      [200, 201, 302, 400, 500].filter((status) => isAccepted({ answer: answered(status, '') })),
    ).toEqual([200, 201]);
  });

  it('is deleted at the end where the server says how (RFC 7592)', async () => {
    const { server, finding } = await examineActively(undefined, { only: ['REG-LOOPBACK-PORT'] });
    const created = server.asked().filter((line) => line === 'POST /register').length;
    expect(server.asked().filter((line) => line.startsWith('DELETE /register/'))).toHaveLength(created);
    expect(finding('REG-LOOPBACK-PORT').saw).not.toContain('stays');
  });

  it('stays where the server offers no deletion, and the report says so', async () => {
    const { finding } = await examineActively(
      whenRegistered((client, reply) => ({
        ...reply,
        json: { ...client, registration_client_uri: undefined },
      })),
      { only: ['REG-LOOPBACK-PORT'] },
    );
    expect(finding('REG-LOOPBACK-PORT').saw).toContain('what this examination registers stays');
  });

  it('sends its management token to the origin of the registration endpoint only', async () => {
    const elsewhere: string[] = [];
    const { server } = await examineActively(
      (sound) => {
        whenRegistered((client, reply) => ({
          ...reply,
          json: { ...client, registration_client_uri: sound.origin.replace('127.0.0.1', 'localhost') },
        }))(sound);
        sound.routes['DELETE /'] = () => {
          elsewhere.push('asked');
          return page;
        };
      },
      { only: ['REG-LOOPBACK-PORT'] },
    );
    expect(elsewhere).toEqual([]);
    expect(server.asked().some((line) => line.startsWith('DELETE'))).toBe(false);
  });
});

describe('native registrations', () => {
  const native = {
    only: ['REG-LOOPBACK-PORT', 'REG-APPLICATION-TYPE', 'REG-LOOPBACK-PORTLESS', 'REG-ANSWER'],
  };

  it('two registrations answer all questions about a sound server, and both are deleted', async () => {
    const { server } = await examineActively(undefined, native);
    const asked = server.asked().filter((line) => line.includes('/register'));
    expect(asked.map((line) => line.replace(/client-.*/, 'id'))).toEqual([
      'POST /register',
      'POST /register',
      'DELETE /register/id',
      'DELETE /register/id',
    ]);
  });

  it('a server that refuses everything is asked with and without application_type, and no more', async () => {
    const { server } = await examineActively(
      (one) => one.change('POST /register', () => refusal('invalid_client_metadata')),
      native,
    );
    const sent = server.requests
      .filter(({ path }) => path === '/register')
      .map(({ body }) => JSON.parse(body) as object);
    expect(sent.map((metadata) => 'application_type' in metadata)).toEqual([true, false]);
  });
});
