import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../../src/mcp/http/refusal.ts';
import { type Messages, readMessages } from '../../../src/mcp/reading/messages.ts';
import { refuseForScopes } from '../../../src/mcp/scopes/scope-gate.ts';
import { parseChallenges } from '../../../src/oauth/challenge.ts';

const read = (value: unknown): Messages => {
  const messages = readMessages(value);
  if (isRefusal(messages)) throw new Error(messages.reason);
  return messages;
};
const url = 'https://a.example/.well-known/oauth-protected-resource/mcp';
const call = { jsonrpc: '2.0', id: 'x', method: 'tools/call', params: { name: 'add"\r\nX-Evil: 1' } };

describe('the refusal for scopes', () => {
  it('names all scopes and the metadata, and answers the request (A8-04, T-102)', () => {
    const refusal = refuseForScopes({ scopes: ['a', 'b', 'a'], resourceMetadataUrl: url }, read(call));
    expect(refusal).toMatchObject({ reason: 'insufficient_scope', id: 'x' });
    expect(parseChallenges(refusal.headers?.['WWW-Authenticate'] ?? '')).toEqual([
      {
        scheme: 'bearer',
        parameters: {
          error: 'insufficient_scope',
          error_description: 'This call needs more scopes than the access token has.',
          scope: 'a b',
          resource_metadata: url,
        },
      },
    ]);
  });

  it('names the scheme of a caller whose token is bound to a key (A8-04, A13-09)', () => {
    const lacked = { scopes: ['a'], resourceMetadataUrl: url, isBound: true };
    expect(parseChallenges(refuseForScopes(lacked, read(call)).headers?.['WWW-Authenticate'] ?? '')).toEqual([
      {
        scheme: 'dpop',
        parameters: expect.objectContaining({
          error: 'insufficient_scope',
          scope: 'a',
          resource_metadata: url,
          algs: 'ES256 Ed25519 EdDSA',
        }),
      },
    ]);
  });

  it('repeats nothing the client wrote, and lets no description end its quotes (T-102)', () => {
    const refusal = refuseForScopes(
      { scopes: ['a'], description: 'Ask", scope="root\r\nX-Evil: 1', resourceMetadataUrl: url },
      read(call),
    );
    const header = refusal.headers?.['WWW-Authenticate'] ?? '';
    expect(header).not.toMatch(/[\r\n]|add/);
    expect(parseChallenges(header)[0]?.parameters.scope).toBe('a');
    expect(parseChallenges(header)).toHaveLength(1);
  });

  it('of a notification has no id', () => {
    const { id: _id, ...notification } = call;
    expect(
      refuseForScopes({ scopes: ['a'], resourceMetadataUrl: url }, read(notification)).id,
    ).toBeUndefined();
  });
});
