import { describe, expect, it } from 'vitest';
import {
  marker,
  markerPattern,
  secretHeaderPattern,
  secretMemberPattern,
} from '../../../src/client/exchanges/secret-names.ts';

describe('names of secrets', () => {
  it.each(['access_token', 'accessToken', 'CLIENT-SECRET', 'code', 'api-key'])('count %s', (name) => {
    expect(new RegExp(`^(?:${secretMemberPattern})$`, 'i').test(name)).toBe(true);
  });

  it.each(['state', 'scope', 'token_type', 'token_endpoint', 'code_challenge', 'client_id'])(
    'leave %s alone',
    (name) => {
      expect(new RegExp(`^(?:${secretMemberPattern})$`, 'i').test(name)).toBe(false);
    },
  );

  it.each(['cookie', 'DPoP', 'X-Api-Key', 'Mcp-Session-Id', 'x-goog-iap-jwt-token'])(
    'count the field %s',
    (name) => {
      expect(secretHeaderPattern.test(name)).toBe(true);
    },
  );

  it('stand in the place of the secret in snake case, and are found there', () => {
    expect(marker('X-Api-Key')).toBe('<secret:x_api_key>');
    expect(marker('accessToken')).toBe('<secret:access_token>');
    expect([...`a ${marker('code')} b <b>`.matchAll(markerPattern)].map(([, name]) => name)).toEqual([
      'code',
    ]);
  });
});
