import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSettings, loadSome } from '../../src/config/load.ts';
import { SettingsRefused } from '../../src/settings/settings-refused.ts';
import { testFolder } from '../client/support/folder.ts';

function configFile(text: string): string {
  const file = join(testFolder(), 'gatehouse.json');
  writeFileSync(file, text);
  return file;
}

describe('settings from a file', () => {
  it('stand over the defaults, and the command line over them', () => {
    const file = configFile(
      JSON.stringify({ $schema: 'x', publicUrl: 'https://a.example', listen: { host: '0.0.0.0', port: 1 } }),
    );
    expect(loadSettings(file, {})).toMatchObject({
      publicUrl: 'https://a.example',
      listen: { host: '0.0.0.0', port: 1 },
    });
    expect(loadSettings(file, { port: 0, publicUrl: 'https://b.example' })).toMatchObject({
      publicUrl: 'https://b.example',
      listen: { host: '0.0.0.0', port: 0 },
    });
    expect(loadSettings(undefined, { port: 5 }).listen).toEqual({ host: '127.0.0.1', port: 5 });
  });

  it('keep their data beside the file; the command line names it from where one is', () => {
    const file = configFile('{"data":"state"}');
    expect(loadSettings(file, {}).data).toBe(resolve(file, '..', 'state'));
    expect(loadSettings(file, { data: 'state' }).data).toBe(resolve('state'));
    expect(loadSettings(undefined, {}).data).toBe(resolve('data'));
    expect(loadSettings(configFile('{"data":"/var/lib/x"}'), {}).data).toBe('/var/lib/x');
  });

  it('find the secrets of upstreams beside the file (T-093)', () => {
    const issuer = 'https://idp.example.com';
    const file = configFile(
      JSON.stringify({
        upstreams: {
          work: { issuer, clientId: 'c', clientSecretFile: 'work.secret' },
          other: { issuer, clientId: 'c', clientKeyFile: '/etc/keys/other.pem' },
        },
      }),
    );
    const { work, other } = loadSettings(file, { data: '/elsewhere' }).upstreams;
    expect(work?.clientSecretFile).toBe(resolve(file, '..', 'work.secret'));
    expect(other?.clientKeyFile).toBe('/etc/keys/other.pem');
  });

  it('find the files of credentials for backends beside the file', () => {
    const as = { env: 'KEY' };
    const file = configFile(
      JSON.stringify({
        routes: {
          notes: {
            backend: { command: 'notes-server' },
            credentials: {
              beside: { as, from: { file: 'notes.key' } },
              own: { as: { env: 'OWN' } },
            },
          },
        },
      }),
    );
    const { credentials } = loadSettings(file, { data: '/elsewhere' }).routes.notes ?? {};
    expect(credentials).toEqual({
      beside: { as, from: { file: resolve(file, '..', 'notes.key') } },
      own: { as: { env: 'OWN' }, from: 'person' },
    });
  });

  it('may begin with a byte order mark, as editors of Windows write one', () => {
    const file = configFile('\uFEFF{"data":"here"}');
    expect(loadSettings(file, {}).data).toBe(resolve(file, '..', 'here'));
  });

  it.each([
    ['{"listen":{"port":1', /is not valid JSON/],
    ['[]', /must hold one JSON object/],
    ['null', /must hold one JSON object/],
    ['"x"', /must hold one JSON object/],
    ['{"listen":5}', /listen: must be an object, in \{ \}/],
    [
      '{"routes":{"a":{"backend":{"comand":"x"}}}}',
      /backend\.command: is missing: it takes a string.*\n.*comand: .*did you mean command\?/,
    ],
    ['{"routes":{"a":{"backend":{"command":"x","args":"y"}}}}', /args: must be a list, in \[ \]/],
    ['{"data":"canary-', /is not valid JSON \(Unterminated string.*, line 1\)/],
    ['{"tokns":{},"lisen":{}}', /- tokns: .*did you mean tokens\?\n- lisen: .*did you mean listen\?/],
  ])('as %s are refused with the reason', (text, reason) => {
    const file = configFile(text);
    expect(() => loadSettings(file, { port: 0 })).toThrow(SettingsRefused);
    expect(() => loadSettings(file, { port: 0 })).toThrow(reason);
  });

  it('that cannot be read are refused with the reason', () => {
    const folder = testFolder();
    expect(() => loadSettings(join(folder, 'none.json'), {})).toThrow(/none\.json: there is no such file/);
    expect(() => loadSettings(folder, {})).toThrow(
      new SettingsRefused([`${folder}: this is a folder: name the config file in it`]),
    );
  });

  it('give some of their settings whatever is wrong with the others', () => {
    const dataOf = (file: string | undefined): string => loadSome(file, ['data']).data;
    const file = configFile('{"data":"state","routes":5,"tokns":{}}');
    expect(dataOf(file)).toBe(resolve(file, '..', 'state'));
    expect(dataOf(configFile('{"data":"/var/lib/x"}'))).toBe('/var/lib/x');
    const other = configFile('{"listen":1,"lisen":2,"$schema":"x"}');
    expect(dataOf(other)).toBe(resolve(other, '..', 'data'));
    expect(dataOf(undefined)).toBe(resolve('data'));
    expect(() => dataOf(configFile('{"data":5,"tokns":1}'))).toThrow(/- data: must be a string, in quotes$/);
    expect(() => dataOf(configFile('{"data":'))).toThrow(/is not valid JSON/);
    expect(loadSome(other, ['publicUrl', 'clients'])).toMatchObject({ clients: { registration: 'open' } });
  });

  it('are refused where one that is looked for is not there, and a name may have been meant as it', () => {
    const fileWith = (settings: object): string => configFile(JSON.stringify(settings));
    for (const name of ['dta', 'dataFolder'])
      expect(() => loadSome(fileWith({ [name]: 1 }), ['data']), name).toThrow(`- ${name}: there is no such`);
    const misspelt = { data: 'x', publcUrl: 'https://a.example' };
    expect(() => loadSome(fileWith(misspelt), ['publicUrl'])).toThrow(/publcUrl: .*did you mean publicUrl\?/);
    expect(loadSome(fileWith(misspelt), ['data']).data).toMatch(/\/x$/);
    expect(loadSome(fileWith({ ...misspelt, publicUrl: 'https://a.example/' }), ['publicUrl'])).toMatchObject(
      {
        publicUrl: 'https://a.example',
      },
    );
  });
});
