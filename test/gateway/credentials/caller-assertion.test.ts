import { decodeJwt, importJWK, jwtVerify } from 'jose';
import { expect, it } from 'vitest';
import { generateSigningKey } from '../../../src/crypto/key-schedule.ts';
import { assertWithoutKeys, createAssertCaller } from '../../../src/gateway/credentials/caller-assertion.ts';
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

it('Each assertion has an id of its own', async () => {
  const assert = createAssertCaller({ ...about, signing: [await generateSigningKey()] });
  expect(decodeJwt(assert(ada)).jti).not.toBe(decodeJwt(assert(ada)).jti);
});

it('Without a key nothing is asserted', () => {
  expect(() => createAssertCaller({ ...about, signing: [] })(ada)).toThrow('no signing key');
  expect(assertWithoutKeys).toThrow('signing keys');
});
