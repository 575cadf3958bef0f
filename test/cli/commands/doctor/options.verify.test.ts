import { expect, it } from 'vitest';
import { verifyMeans } from '../../../../src/cli/commands/doctor/options.ts';

it('a second look gets the options that its check was given, and no others', () => {
  const { given } = verifyMeans({
    active: true,
    timeout: 30,
    callbackPort: 8123,
    clientMetadataUrl: 'https://app.example.com/client.json',
    idleSeconds: 90,
    browser: false,
  });
  expect(given?.('resource')).toEqual(['--timeout', '30']);
  expect(given?.('machine')).toEqual(['--timeout', '30', '--callback-port', '8123']);
  expect(given?.('registration')).toEqual([
    ...['--timeout', '30', '--callback-port', '8123'],
    ...['--client-metadata-url', 'https://app.example.com/client.json', '--no-browser'],
  ]);
  expect(given?.('proxy')).toEqual(expect.arrayContaining(['--idle-seconds', '90']));
});
