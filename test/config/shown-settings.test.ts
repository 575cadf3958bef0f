import { expect, it } from 'vitest';
import { showSettings } from '../../src/config/shown-settings.ts';
import { parseSettings } from '../../src/options.ts';

it('settings are shown without secrets, and with everything else (T-194)', () => {
  const work = { issuer: 'https://idp.example.com', clientId: 'gatehouse' };
  const settings = parseSettings({
    upstreams: {
      work: { ...work, clientSecret: 'canary' },
      other: { ...work, clientSecretFile: 'secret.txt' },
    },
  });
  const shown = showSettings(settings);
  expect(JSON.stringify(shown)).not.toContain('canary');
  expect(shown.upstreams.work).toEqual({ ...settings.upstreams.work, clientSecret: '(set)' });
  expect(shown.upstreams.other).toEqual(settings.upstreams.other);
  expect({ ...shown, upstreams: {} }).toEqual({ ...settings, upstreams: {} });
});
