import { describe, expect, it } from 'vitest';
import { type Learnable, listLearnedFacts } from '../../src/authorization-server/learned-facts.ts';
import { callerFields } from '../../src/oauth/caller-fields.ts';

const all: readonly Learnable[] = [...callerFields, 'claims'];
const work = (callerClaims: readonly string[] = []) =>
  ({ label: 'Work', settings: { callerClaims } }) as unknown as Parameters<typeof listLearnedFacts>[1];

describe('the data that a server learns about a user', () => {
  it('is everything that it gets, if the user logged in through an upstream', () => {
    expect(listLearnedFacts({ learns: all }, work(['department']))).toEqual({
      facts: ['email', 'name', 'groups', 'identity', 'claims', 'login'],
      label: 'Work',
    });
  });

  it('contains no claims if the upstream selects none, and nothing of an upstream without one', () => {
    expect(listLearnedFacts({ learns: all }, work()).facts).not.toContain('claims');
    expect(listLearnedFacts({ learns: all }, undefined)).toEqual({ facts: ['email', 'login'], label: '' });
  });

  it('comes with the arguments of calls that the operator keeps', () => {
    expect(listLearnedFacts({ keptArguments: 'full' }, undefined).kept).toBe('full');
    expect(listLearnedFacts({}, undefined).kept).toBeUndefined();
  });

  it('is only what the operator selected; by default it is nothing', () => {
    expect(listLearnedFacts({ learns: ['roles', 'client_id'] }, work()).facts).toEqual(['groups']);
    expect(listLearnedFacts({}, work()).facts).toEqual([]);
  });
});
