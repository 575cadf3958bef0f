import type { Context } from 'koa';
import { expect, it } from 'vitest';
import { reasonOf } from '../../../src/authorization-server/endpoints/endpoint-guards.ts';

/** The reason of a refusal of the engine. */
const reason = (grantError: object) => reasonOf({ state: { grantError } } as unknown as Context);

it('a reason is the same for every client: of an expired secret neither whose it is nor since when', () => {
  const detail = 'client_id ci client_secret expired at 1577836800';
  expect(reason({ error: 'invalid_client', error_detail: detail })).toBe('client secret has expired');
  expect(reason({ error: 'invalid_client', error_detail: 'client not found' })).toBe('client not found');
});

it('what a reader says of what it could not read is no reason, its code is', () => {
  const cause = Object.assign(new Error('quoted canary'), { code: 'ERR_JWS_INVALID' });
  expect(reason({ error: 'invalid_client', error_detail: 'quoted canary', cause })).toBe('ERR_JWS_INVALID');
  expect(reason({ error: 'invalid_client', error_detail: 'quoted canary', cause: 'x' })).toBeUndefined();
});
