import { describe, expect, it } from 'vitest';
import { profiles } from '../../../src/doctor/profiles/profile-checks.ts';
import { sdkV1Behaviour } from '../../../src/oauth/client-profiles/client-profile.ts';

describe('what clients share that are built on the SDK', () => {
  it('is said to be inferred wherever a profile takes it over without its source', () => {
    const taking = profiles.filter(
      (profile) =>
        !profile.name.startsWith('sdk-') &&
        Object.entries(sdkV1Behaviour).filter(
          ([member, value]) => profile[member as keyof typeof profile] === value,
        ).length >= 5,
    );
    const silent = taking.filter(
      ({ facts }) => !facts.some(({ grounds, says }) => grounds === 'inferred' || says.includes('SDK')),
    );
    expect(taking.length).toBeGreaterThan(3);
    expect(silent.map(({ name }) => name)).toEqual([]);
  });
});
