import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { clientProfiles } from '../../../src/oauth/client-profiles/client-profiles.ts';
import { recordedRegistrations } from '../../../src/oauth/client-profiles/recorded-registrations.ts';
import { formatRegistrations, readRecorded } from '../../clients/record.ts';

const source = readFileSync('src/oauth/client-profiles/recorded-registrations.ts', 'utf8');

describe('the recorded registrations', () => {
  it('are generated from what the programs sent', async () => {
    expect(formatRegistrations(await readRecorded())).toBe(source);
  });

  it.each(Object.entries(recordedRegistrations))(
    'of %s give its profile the version, the day and the registration of the recording',
    (name, { version, observed, registrationBody }) => {
      const profile = clientProfiles.find((one) => one.name === name);
      expect(profile).toMatchObject({ version, observed, registrationBody });
      expect(profile?.facts.map(({ grounds }) => grounds)).toContain('recording');
    },
  );

  it('contain neither the scopes of our server nor the port of one run', () => {
    expect(source).not.toMatch(/scope:|<port>/);
  });
});
