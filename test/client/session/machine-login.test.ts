import { expect, it } from 'vitest';
import { machineOf } from '../../../src/client/session/machine-login.ts';
import { testCredential } from '../support/credentials.ts';

const privateKey = { kty: 'OKP', alg: 'EdDSA' };

it.each([
  ['a client with a secret', { grant: { type: 'client_credentials', clientSecret: 's' } }, 'secret'],
  ['a client with a key', { grant: { type: 'client_credentials', privateKey } }, 'key'],
  ['a workload', { workload: true }, 'assertion'],
] as const)(
  'a login of %s is a machine’s, and says what it authenticated by, never with what',
  (_, held, proof) => {
    const grant = 'workload' in held ? 'workload_identity' : 'client_credentials';
    expect(machineOf(testCredential({ clientId: 'ci', ...held }))).toEqual({ grant, clientId: 'ci', proof });
  },
);

it('a login of a person, or none, is no machine’s', () => {
  expect(machineOf(testCredential())).toBeUndefined();
});
