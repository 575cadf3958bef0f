import { expect, it } from 'vitest';
import { examineActively, headlessLogin } from '../support/login.ts';

it('client authentication is tried without a user: rightly, wrongly, and with the secret encoded (RFC 6749 section 2.3.1)', async () => {
  const login = headlessLogin();
  const { server } = await examineActively(undefined, { only: ['LOGIN-CLIENT-AUTH'], login });
  const requests = server.requests.filter(({ path }) => path === '/token');
  expect(requests).toHaveLength(5);
  const basic = requests.flatMap(({ headers }) =>
    headers.authorization === undefined ? [] : [atob(headers.authorization.slice(6)).split(':')[1] ?? ''],
  );
  const [right = '', wrong, encoded = ''] = basic;
  expect(wrong).toBe(`${right}-not`);
  expect(encoded).not.toBe(right);
  expect(decodeURIComponent(encoded)).toBe(right);
  expect(login.asked).toEqual([]);
});
