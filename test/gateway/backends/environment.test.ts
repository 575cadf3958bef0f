import { describe, expect, it } from 'vitest';
import { backendEnvironment, secretsOf } from '../../../src/gateway/backends/environment.ts';

describe('the environment of a backend', () => {
  const ours = { PATH: '/bin', HOME: '/root', API_TOKEN: 'a-long-token', MODE: 'on', SECRET: 'canary' };

  it('has what every program needs and what was named, nothing else (T-154)', () => {
    expect(backendEnvironment(['API_TOKEN', 'MODE'], ours)).toEqual({
      env: { PATH: '/bin', HOME: '/root', API_TOKEN: 'a-long-token', MODE: 'on' },
      secrets: ['a-long-token'],
      missing: [],
    });
  });

  it('has one line without its end, and several as they are', () => {
    const key = '-----BEGIN KEY-----\nabc\n-----END KEY-----\n';
    const given = { TOKEN: 'a token \r\n', BARE: 'b\n\n', KEY: key };
    const { env, secrets } = backendEnvironment(['TOKEN', 'BARE', 'KEY'], given);
    expect(env).toEqual({ TOKEN: 'a token ', BARE: 'b', KEY: key });
    expect(secrets).toContain('a token');
  });

  it('says which names are not set, those of every object’s members among them (T-137)', () => {
    expect(backendEnvironment(['NOPE', 'toString'], ours).missing).toEqual(['NOPE', 'toString']);
  });

  it('may be given with its values, which are kept out of the log', () => {
    expect(backendEnvironment({ KEY: 'a-long-token', MODE: 'on' }, ours)).toEqual({
      env: { PATH: '/bin', HOME: '/root', KEY: 'a-long-token', MODE: 'on' },
      secrets: ['a-long-token'],
      missing: [],
    });
  });
});

it('takes variables with their values as they are, expands nothing, and keeps the values out of the log (T-153)', () => {
  const literal = ['$', '{SECRET} $HOME'].join('');
  const wanted = { TOKEN: literal, PATH: '/opt/bin' };
  expect(backendEnvironment(wanted, { HOME: '/root', PATH: '/bin', SECRET: 'canary' })).toEqual({
    env: { HOME: '/root', PATH: '/opt/bin', TOKEN: literal },
    secrets: [literal, '/opt/bin'],
    missing: [],
  });
});

it('keeps each line of a value out of the log: a key in PEM is logged by its lines (T-194)', () => {
  const pem = '-----BEGIN KEY-----\nMIIEvQIBADANBg\r\n  kqhkiG9w0BAQ \nx=\n-----END KEY-----\n';
  expect(secretsOf({ KEY: pem })).toEqual([
    '-----BEGIN KEY-----',
    'MIIEvQIBADANBg',
    'kqhkiG9w0BAQ',
    '-----END KEY-----',
  ]);
});
