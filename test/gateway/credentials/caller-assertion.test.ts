import { decodeJwt, importJWK, jwtVerify } from 'jose';
import { expect, it } from 'vitest';
import { generateSigningKey } from '../../../src/crypto/key-schedule.ts';
import {
  assertWithoutKeys,
  createAssertCaller,
  maxHeaderClaims,
} from '../../../src/gateway/credentials/caller-assertion.ts';
import { callerOf } from '../backends/stdio/support/talk.ts';

const ada = { ...callerOf('ada'), displayName: 'Größe' };
const about = { issuer: 'https://gate.example', audience: 'https://there.example/mcp', now: () => 1000 };

it('An assertion is signed with the key that is current then, and names it; jose verifies it', async () => {
  const [first, second] = [await generateSigningKey(), await generateSigningKey()];
  const signing = [first];
  const assert = createAssertCaller({ ...about, signing });
  for (const key of [first, second, first]) {
    signing.splice(0, signing.length, key);
    const { d: _private, ...published } = key;
    const { payload, protectedHeader } = await jwtVerify(assert(ada), await importJWK(published, 'ES256'), {
      currentDate: new Date(1_100_000),
    });
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'caller+jwt', kid: key.kid });
    expect(payload).toEqual({
      iss: 'https://gate.example',
      aud: 'https://there.example/mcp',
      sub: 'ada',
      client_id: 'client',
      scope: 'mcp',
      name: 'Größe',
      iat: 1000,
      exp: 1300,
      jti: expect.any(String),
    });
  }
  const { d: _private, ...other } = second;
  const verified = jwtVerify(assert(ada), await importJWK(other, 'ES256'));
  await expect(verified).rejects.toThrow('signature');
});

it('An assertion that is a header stays below 4 KiB, without the claims that do not fit', async () => {
  const groups = Array.from({ length: 200 }, (_, at) => `a group with a long name ${at}`);
  const upstream = { name: 'work', issuer: 'https://idp.example', subject: 's', groups, roles: ['admin'] };
  const signing = [await generateSigningKey()];
  const assertion = createAssertCaller({ ...about, signing, maxBytes: maxHeaderClaims })({
    ...ada,
    upstream,
  });
  expect(assertion.length).toBeLessThan(4_096);
  expect(decodeJwt(assertion)).toMatchObject({ sub: 'ada', roles: ['admin'], omitted: ['groups'] });
  expect(decodeJwt(createAssertCaller({ ...about, signing })({ ...ada, upstream }))).toMatchObject({
    groups,
  });
});

it('Each assertion has an id of its own', async () => {
  const assert = createAssertCaller({ ...about, signing: [await generateSigningKey()] });
  expect(decodeJwt(assert(ada)).jti).not.toBe(decodeJwt(assert(ada)).jti);
});

it('Without a key nothing is asserted', () => {
  expect(() => createAssertCaller({ ...about, signing: [] })(ada)).toThrow('no signing key');
  expect(assertWithoutKeys).toThrow('signing keys');
});
