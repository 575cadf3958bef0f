import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeJsonFault, loadSettings, loadSome, showSettings } from '../../src/config/load.ts';
import { parseSettings } from '../../src/options.ts';
import { SettingsRefused } from '../../src/settings/issues.ts';
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

  it('find the files of the database URL and of the master key beside the file, and show no password of a URL (T-194)', () => {
    const file = configFile(
      JSON.stringify({ storage: { postgres: { file: 'url' }, masterKey: { file: 'keys/master' } } }),
    );
    expect(loadSettings(file, {}).storage).toMatchObject({
      postgres: { file: resolve(file, '..', 'url') },
      masterKey: { file: resolve(file, '..', 'keys/master') },
    });
    const url = 'postgres://ada:secret@db/gatehouse?sslpassword=secret&sslmode=require';
    expect(showSettings(parseSettings({ storage: { postgres: url } })).storage.postgres).toBe(
      'postgres://ada:set@db/gatehouse?sslpassword=set&sslmode=require',
    );
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

function faultOf(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    return describeJsonFault(text, error as Error);
  }
  throw new Error('it is JSON');
}

it.each([
  ['{bad', /property name.*, line 1$/],
  ['{\n  "a": 1,\n}', /property name.*, line 3$/],
  ['{\n  "a": "x"\n  "b": 1\n}', /after property value.*, line 3$/],
  ['{\n "a": {\n  "TOKEN": canary-1234567890\n } }', /^Unexpected "c", line 3$/],
  ['canary', /^Unexpected "c", line 1$/],
  ['[canary-1234567, canary-1234567, canary', /^Unexpected "c", line 1$/],
  ['{ "canary": [', /^it ends too early$/],
  ['', /^it ends too early$/],
])('says where %j is no JSON, and repeats nothing of it (T-194)', (text, fault) => {
  expect(faultOf(text)).toMatch(fault);
  expect(faultOf(text)).not.toContain('canary');
});

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
