import { describe, expect, it } from 'vitest';
import { type CallContext, callerOf, toSdkAuthInfo } from '../../../src/mcp/sdk/caller.ts';

const caller = {
  issuer: 'https://as.example.com',
  subject: 'ann',
  clientId: 'client-1',
  scopes: ['notes:read'],
  audience: 'https://mcp.example.com/mcp',
  expiresAt: 1_800_000_000,
};
const metadataUrl = 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp';

describe('the caller', () => {
  it('reaches a tool of the SDK in version 2 and in version 1', () => {
    const authInfo = toSdkAuthInfo(caller);
    expect(callerOf({ http: { authInfo } })).toEqual(caller);
    expect(callerOf({ authInfo })).toEqual(caller);
  });

  it('comes in the form of the SDK, with an empty token (T-105)', () => {
    expect(toSdkAuthInfo(caller)).toMatchObject({
      token: '',
      clientId: 'client-1',
      scopes: ['notes:read'],
      expiresAt: 1_800_000_000,
      resource: new URL('https://mcp.example.com/mcp'),
      resourceMetadataUrl: metadataUrl,
    });
  });

  it('is told of the metadata of the resource its token was issued for (RFC 9728)', () => {
    const atRest = toSdkAuthInfo({ ...caller, audience: 'https://mcp.example.com/rest' });
    expect(atRest.resourceMetadataUrl).toBe(
      'https://mcp.example.com/.well-known/oauth-protected-resource/rest',
    );
  });

  it('is asked for in vain where nobody was identified', () => {
    expect(() => callerOf({})).toThrow('behind a Gatehouse MCP endpoint');
    expect(() => callerOf({ http: {} })).toThrow('behind a Gatehouse MCP endpoint');
  });

  it('is found in the context alone, which is the second argument of a tool with input', () => {
    expect(() => callerOf(undefined as unknown as CallContext)).toThrow('the second argument of a tool');
  });
});
