import { describe, expect, it } from 'vitest';
import {
  day,
  limitSettings,
  loginSettings,
  mcpSettings,
  seconds,
  tokenSettings,
} from '../../src/settings/limits.ts';

describe('the settings of limits', () => {
  it('count everything but MCP requests, whoever sets nothing', () => {
    const { mcpRequests, sharedAddresses, heldBytes, ...limits } = limitSettings.parse(undefined);
    expect(mcpRequests).toBeUndefined();
    expect(sharedAddresses).toEqual(['160.79.104.0/21']);
    expect(heldBytes).toEqual({ perAccount: 64_000_000, total: 128_000_000, patienceSeconds: 10 });
    for (const [name, limit] of Object.entries(limits))
      expect(limit, name).toEqual({ times: expect.any(Number), windowSeconds: expect.any(Number) });
  });

  it('keep the other half of a limit that is set in part', () => {
    expect(limitSettings.parse({ deviceCodes: { times: 3 } }).deviceCodes).toEqual({
      times: 3,
      windowSeconds: 900,
    });
    expect(limitSettings.parse({ mcpRequests: { times: 5 } }).mcpRequests).toEqual({
      times: 5,
      windowSeconds: 60,
    });
  });

  it.each([
    { logins: { times: 1 } },
    { requests: { times: 0 } },
    { requests: { windowSeconds: 86_401 } },
    { mcpRequests: {} },
    { sharedAddresses: ['everybody'] },
    { heldBytes: { perAccount: 1_000 } },
    { heldBytes: { total: '128 MB' } },
  ])('refuse %j', (value) => {
    expect(limitSettings.safeParse(value).success).toBe(false);
  });
});

describe('the settings of logins', () => {
  it('keep a login for two weeks, a week where it is not used, and a device code for ten minutes', () => {
    expect(loginSettings.parse(undefined)).toEqual({
      sessionSeconds: 1_209_600,
      sessionIdleSeconds: 604_800,
      pageSeconds: 3600,
      deviceFlow: true,
      deviceCodeSeconds: 600,
    });
  });

  it.each([
    { sessionSeconds: 90 * 86_400 + 1 },
    { sessionIdleSeconds: 0 },
    { pageSeconds: 86_401 },
    { deviceCodeSeconds: 1801 },
    { deviceFlow: 'on' },
  ])('refuse %j', (value) => {
    expect(loginSettings.safeParse(value).success).toBe(false);
  });
});

describe('the settings of the MCP endpoint', () => {
  it('have bounds on everything a caller can make grow', () => {
    expect(mcpSettings.parse(undefined)).toEqual({
      maxBodyBytes: 4_194_304,
      sessions: 'stored',
      sessionIdleSeconds: 1800,
      maxSessions: 10_000,
      maxSessionsPerPrincipal: 100,
      maxStreamsPerPrincipal: 64,
      maxCallsPerPrincipal: 256,
      eventSeconds: 3600,
      maxEventsPerSession: 1000,
      maxEventBytesPerSession: 4_194_304,
    });
  });

  it.each([
    { maxBodyBytes: 1023 },
    { sessions: 'memory' },
    { sessionIdleSeconds: 86_401 },
    { maxSessions: 0 },
    { maxSessionsPerPrincipal: 0 },
    { maxStreamsPerPrincipal: 0 },
    { maxCallsPerPrincipal: 0 },
    { maxEventsPerSession: 0 },
    { maxEventBytesPerSession: 1 },
  ])('refuse %j', (value) => {
    expect(mcpSettings.safeParse(value).success).toBe(false);
  });
});

describe('the settings of tokens', () => {
  it('keep an access token an hour, a code a minute, and let a used refresh token answer again for two (T-037)', () => {
    expect(tokenSettings.parse(undefined)).toEqual({
      accessTokenSeconds: 3600,
      codeSeconds: 60,
      refreshTokenSeconds: 2_592_000,
      grantSeconds: 15_552_000,
      refreshGraceSeconds: 120,
      repeatFromOtherAddress: 'allow',
      format: 'opaque',
      dpop: { required: false, requireNonce: false },
    });
  });

  it.each([
    { accessTokenSeconds: 86_401 },
    { codeSeconds: 601 },
    { refreshTokenSeconds: 365 * 86_400 + 1 },
    { grantSeconds: 730 * 86_400 + 1 },
    { refreshGraceSeconds: 601 },
    { refreshGraceSeconds: -1 },
    { format: 'paseto' },
    { dpop: { require: true } },
  ])('refuse %j', (value) => {
    expect(tokenSettings.safeParse(value).success).toBe(false);
  });

  it('let a refresh token be used just once where the operator says so', () => {
    expect(tokenSettings.parse({ refreshGraceSeconds: 0 }).refreshGraceSeconds).toBe(0);
  });
});

describe('a setting that is a time', () => {
  const setting = seconds(60, day, 'a time');

  it('has a default, and a meaning for the reference', () => {
    expect(setting.parse(undefined)).toBe(60);
    expect(setting.description).toBe('a time');
  });

  it.each([1, 86_400])('may be %i seconds', (value) => {
    expect(setting.parse(value)).toBe(value);
  });

  it.each([0, -1, 1.5, 86_401, '60', null])('may not be %j', (value) => {
    expect(setting.safeParse(value).success).toBe(false);
  });
});
