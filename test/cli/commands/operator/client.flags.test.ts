import { expect, it } from 'vitest';
import { nameFlags } from '../../../../src/cli/commands/operator/client.ts';

it.each([
  ['clientId: must not begin with acct_', '--client-id: must not begin with acct_'],
  ['name: must be text of at most 100 characters', '<name>: must be text of at most 100 characters'],
  ['redirectUris.0: is refused: plain http', '--redirect-uri (number 1): is refused: plain http'],
  [
    'redirectUris: needs at least one, because grantTypes has authorization_code',
    '--redirect-uri: needs at least one, because --grant-type has authorization_code',
  ],
  [
    'authMethod: private_key_jwt needs either jwks or jwksUri',
    '--auth-method: private_key_jwt needs either --jwks-file or --jwks-uri',
  ],
  ['scopes: must be a list of scopes', '--scope: must be a list of scopes'],
  ['There is a client with this id already.', 'There is a client with this id already.'],
  [
    'scopes: needs a list\ngrantTypes: needs at least one',
    '--scope: needs a list\n--grant-type: needs at least one',
  ],
])('the problem %j is said at the command line as %j', (problem, said) => {
  expect(nameFlags(problem)).toBe(said);
});
