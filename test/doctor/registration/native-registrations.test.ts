import { expect, it } from 'vitest';
import { refusal } from '../support/active-faults.ts';
import { examineActively } from '../support/login.ts';

const native = { only: ['REG-LOOPBACK-PORT', 'REG-APPLICATION-TYPE', 'REG-LOOPBACK-PORTLESS', 'REG-ANSWER'] };

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
