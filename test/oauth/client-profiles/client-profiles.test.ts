import { describe, expect, it } from 'vitest';
import { clientProfiles } from '../../../src/oauth/client-profiles/client-profiles.ts';

describe('profiles of clients', () => {
  it('have names of their own, that options and ids can be made of', () => {
    const names = clientProfiles.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name))).toEqual([]);
  });

  it.each(clientProfiles.map((profile) => [profile.name, profile] as const))(
    'of %s say what is known, from where, and of which day',
    (_name, { facts, version, registration, registrationBody, redirectUri, metadataDocument }) => {
      expect(version).toMatch(/^\d{4}-\d\d-\d\d$/);
      expect(facts.length).toBeGreaterThan(0);
      for (const { says, from } of facts) {
        expect(says).not.toBe('');
        expect(from).toMatch(/^https:\/\//);
      }
      expect(facts.some(({ grounds }) => grounds !== 'inferred')).toBe(true);
      expect(registration.length).toBeGreaterThan(0);
      expect(registration.includes('metadata_document')).toBe(metadataDocument !== undefined);
      expect(registrationBody.redirect_uris.length).toBeGreaterThan(0);
      expect(registrationBody).not.toHaveProperty('client_name');
      expect(URL.canParse(redirectUri)).toBe(true);
    },
  );
});
