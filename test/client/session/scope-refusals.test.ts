import { describe, expect, it } from 'vitest';
import {
  readRequiredScopes,
  ScopeRefusals,
  scopeRefusal,
} from '../../../src/client/session/scope-refusals.ts';
import { startOfTime } from '../support/context.ts';
import { testCredential } from '../support/credentials.ts';

const operation = () => 'tools/call write';
const used = testCredential();
const error = scopeRefusal('https://mcp.example/mcp', used, ['write']);

function setUp() {
  const clock = { seconds: startOfTime };
  return { clock, memory: new ScopeRefusals(() => clock.seconds) };
}

describe('the memory of refusals for scopes', () => {
  it('holds an operation back that was refused again and again, for a minute (T-186)', () => {
    const { clock, memory } = setUp();
    for (let refusal = 0; refusal < 4; refusal++) memory.refuse(used, operation(), error);
    expect(() => memory.requireCalm(used, operation)).not.toThrow();
    memory.refuse(used, operation(), error);
    expect(() => memory.requireCalm(used, operation)).toThrow(error);
    clock.seconds += 60;
    expect(() => memory.requireCalm(used, operation)).not.toThrow();
  });

  it('lets other operations through, and the same one with another token', () => {
    const { memory } = setUp();
    for (let refusal = 0; refusal < 5; refusal++) memory.refuse(used, operation(), error);
    expect(() => memory.requireCalm(used, () => 'tools/call read')).not.toThrow();
    expect(() => memory.requireCalm(testCredential({ accessToken: 'wider' }), operation)).not.toThrow();
  });

  it('forgets the refusals of an operation that went through', () => {
    const { memory } = setUp();
    for (let refusal = 0; refusal < 5; refusal++) memory.refuse(used, operation(), error);
    memory.accept(operation);
    expect(() => memory.requireCalm(used, operation)).not.toThrow();
  });

  it('knows scopes that were asked for in vain, by operation (A8-08)', () => {
    const { memory } = setUp();
    memory.giveUp(operation(), ['b', 'a']);
    expect(memory.isFutile(operation(), ['a', 'b'])).toBe(true);
    expect(memory.isFutile(operation(), ['a'])).toBe(false);
    expect(memory.isFutile('tools/call read', ['a', 'b'])).toBe(false);
  });
});

describe('scope refusal', () => {
  const respond = (status: number, challenge?: string): Response =>
    new Response(null, { status, headers: challenge === undefined ? {} : { 'www-authenticate': challenge } });

  describe('a refusal for scopes', () => {
    it.each([
      ['Bearer error="insufficient_scope", scope="read write"', ['read', 'write']],
      ['DPoP error="insufficient_scope", scope="read"', ['read']],
      ['Basic realm="x", Bearer error="insufficient_scope", scope="read"', ['read']],
      ['Bearer error="insufficient_scope"', []],
      ['Bearer error="insufficient_scope", scope="a\\"b ok"', ['ok']],
    ])('is read from %s', (challenge, scopes) => {
      expect(readRequiredScopes(respond(403, challenge), undefined)).toEqual(scopes);
    });

    it.each([
      [403, 'Bearer error="invalid_token"'],
      [403, 'Basic error="insufficient_scope"'],
      [401, 'Bearer error="invalid_token", scope="read"'],
      [400, 'Bearer error="insufficient_scope", scope="read"'],
      [403, undefined],
    ])('is not a %s with %s', (status, challenge) => {
      expect(readRequiredScopes(respond(status, challenge), testCredential())).toBeUndefined();
    });

    it.each([
      ['lacks them', testCredential({ scopes: ['write'] }), ['read']],
      ['is said to have them', testCredential({ scopes: ['read'] }), undefined],
      ['is none', undefined, undefined],
    ])('is a 401 that names scopes, which some servers send, where the token %s', (_, used, scopes) => {
      const challenge = 'Bearer error="insufficient_scope", scope="read"';
      expect(readRequiredScopes(respond(401, challenge), used)).toEqual(scopes);
    });

    it('asks for what is held and what is required, in one (A8-07)', () => {
      const error = scopeRefusal('https://mcp.example', testCredential({ scopes: ['a', 'b'] }), ['b', 'c']);
      expect(error).toMatchObject({ required: ['b', 'c'], missing: ['c'], union: ['a', 'b', 'c'] });
    });

    it('knows whose login it is where that is a machine, and of no machine where it is a person', () => {
      const refuse = (held: Parameters<typeof testCredential>[0]) =>
        scopeRefusal('https://mcp.example', testCredential({ clientId: 'ci', ...held }), ['b']).before
          .machine;
      expect(refuse({ grant: { type: 'client_credentials', clientSecret: 's' } })).toEqual({
        grant: 'client_credentials',
        clientId: 'ci',
        proof: 'secret',
      });
      expect(refuse({})).toBeUndefined();
    });

    it('knows what was chosen at the login', () => {
      const held = testCredential({ dpopKey: { kty: 'EC', d: 'secret' } });
      expect(scopeRefusal('https://mcp.example', held, ['b']).before.chosen).toEqual({ dpop: true });
    });

    it('lacks all that is required where nobody knows what is held', () => {
      expect(scopeRefusal('https://mcp.example', undefined, ['b'])).toMatchObject({
        missing: ['b'],
        union: ['b'],
      });
    });
  });
});
