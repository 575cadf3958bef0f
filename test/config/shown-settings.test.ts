import { expect, it } from 'vitest';
import { showSettings } from '../../src/config/shown-settings.ts';
import { parseSettings } from '../../src/options.ts';

it('settings are shown without secrets, and with everything else (T-194)', () => {
  const work = { issuer: 'https://idp.example.com', clientId: 'gatehouse' };
  const settings = parseSettings({
    upstreams: {
      work: { ...work, clientSecret: 'canary' },
      other: { ...work, clientSecretFile: 'secret.txt' },
      third: { ...work, clientSecret: { env: 'THIRD_SECRET' } },
    },
  });
  const shown = showSettings(settings);
  expect(JSON.stringify(shown)).not.toContain('canary');
  expect(shown.upstreams.work).toEqual({ ...settings.upstreams.work, clientSecret: '(set)' });
  expect(shown.upstreams.other).toEqual(settings.upstreams.other);
  expect(shown.upstreams.third).toEqual(settings.upstreams.third);
  expect({ ...shown, upstreams: {} }).toEqual({ ...settings, upstreams: {} });
});

it('values of variables and headers of backends are not shown, their names are (T-153, T-194)', () => {
  const { routes } = showSettings(
    parseSettings({
      routes: {
        by: { backend: { command: 'a', env: { TOKEN: 'canary' } } },
        named: { backend: { command: 'a', env: ['TOKEN'] } },
        remote: { backend: { url: 'https://a.example/mcp', headers: { 'X-Key': 'canary' } } },
        many: { backends: { a: { command: 'a', env: { TOKEN: 'canary' } } } },
      },
    }),
  );
  expect(JSON.stringify(routes)).not.toContain('canary');
  expect(routes.by?.backend).toMatchObject({ command: 'a', env: { TOKEN: '(set)' } });
  expect(routes.named?.backend).toMatchObject({ env: ['TOKEN'] });
  expect(routes.many?.backends).toMatchObject({ a: { env: { TOKEN: '(set)' } } });
  expect(routes.remote?.backend).toMatchObject({ headers: { 'X-Key': '(set)' } });
});
