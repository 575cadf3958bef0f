import { describe, expect, it } from 'vitest';
import { ScopeMemory } from '../../../src/client/session/scope-memory.ts';
import { scopeRefusal } from '../../../src/client/session/scope-refusal.ts';
import { startOfTime } from '../support/context.ts';
import { testCredential } from '../support/credentials.ts';

const operation = () => 'tools/call write';
const used = testCredential();
const error = scopeRefusal('https://mcp.example/mcp', used, ['write']);

function setUp() {
  const clock = { seconds: startOfTime };
  return { clock, memory: new ScopeMemory(() => clock.seconds) };
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
