import { describe, it } from 'vitest';
import { expectFound, type FaultCase, page, whenRegistered } from '../support/active-faults.ts';

const faults: FaultCase[] = [
  [
    'the answer has another status and may be stored',
    whenRegistered((_client, reply) => ({ ...reply, status: 200, headers: {} })),
    'REG-ANSWER',
    'warn',
    /the status is 200, not 201, and Cache-Control is missing, not no-store/,
  ],
  [
    'a page answers in place of the endpoint',
    whenRegistered(() => page),
    'REG-ANSWER',
    'fail',
    /status 200 and a body that is no JSON object \("text\/html"\): "<h1>Welcome<\/h1>"/,
  ],
  [
    'the client has no client_id',
    whenRegistered((client, reply) => ({ ...reply, json: { ...client, client_id: undefined } })),
    'REG-ANSWER',
    'fail',
    /status 201, and no client_id/,
  ],
  [
    'other redirect URIs come back than were sent (AS-14)',
    whenRegistered((client, reply) => ({
      ...reply,
      json: { ...client, redirect_uris: ['https://other.example/cb'] },
    })),
    'REG-REDIRECT-URIS',
    'fail',
    /127\.0\.0\.1:53682\/callback.*came back as .*other\.example/,
  ],
  [
    'no redirect URIs come back',
    whenRegistered((client, reply) => ({ ...reply, json: { ...client, redirect_uris: undefined } })),
    'REG-REDIRECT-URIS',
    'warn',
    /came back as nothing/,
  ],
  [
    'a public client gets a method with a secret, and no secret',
    whenRegistered((client, reply) =>
      client.token_endpoint_auth_method === 'none'
        ? { ...reply, json: { ...client, token_endpoint_auth_method: 'client_secret_post' } }
        : reply,
    ),
    'REG-AUTH-METHOD',
    'fail',
    /"none" was asked for and "client_secret_post" came.*there is no client_secret/,
  ],
  [
    'the answer does not say the method',
    whenRegistered((client, reply) =>
      client.token_endpoint_auth_method === 'none'
        ? { ...reply, json: { ...client, token_endpoint_auth_method: undefined } }
        : reply,
    ),
    'REG-AUTH-METHOD',
    'fail',
    /token_endpoint_auth_method is missing, which means client_secret_basic/,
  ],
];

describe('the answer to a registration', () => {
  it.each(faults)('is found wrong where %s', async (...fault) => expectFound(fault));
});
