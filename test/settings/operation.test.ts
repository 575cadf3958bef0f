import { describe, expect, it } from 'vitest';
import {
  auditSettings,
  clusterSettings,
  dangerousSettings,
  listenSettings,
  logSettings,
  metricsSettings,
  rotationSettings,
  traceSettings,
} from '../../src/settings/operation.ts';

describe('the settings of operation', () => {
  it('listen to this machine alone, and do nothing dangerous, unless the operator says so', () => {
    expect(listenSettings.parse(undefined)).toEqual({ host: '127.0.0.1', port: 3000 });
    expect(metricsSettings.parse(undefined)).toEqual({ host: '127.0.0.1' });
    expect(dangerousSettings.parse(undefined)).toEqual({
      fetchFromLoopback: false,
      upstreamsOverHttp: false,
      trustOtherPorts: false,
    });
    expect(clusterSettings.parse(undefined)).toEqual({ host: '127.0.0.1' });
    expect(logSettings.parse(undefined)).toEqual({ level: 'info' });
    expect(traceSettings.parse(undefined)).toEqual({ parent: 'follow' });
  });

  it('change keys every quarter and year, and keep the audit log for a year', () => {
    expect(rotationSettings.parse(undefined)).toEqual({ signingDays: 90, cookieDays: 90, sealingDays: 365 });
    expect(auditSettings.parse(undefined)).toEqual({ keepDays: 365, maxEvents: 1_000_000 });
  });

  it.each([
    [listenSettings, { port: 65_536 }],
    [metricsSettings, { port: -1 }],
    [clusterSettings, { port: 65_536 }],
    [clusterSettings, { address: { env: 'not a name' } }],
    [rotationSettings, { signingDays: 3651 }],
    [rotationSettings, { sealingDays: -1 }],
    [auditSettings, { keepDays: 0 }],
    [auditSettings, { maxEvents: 999 }],
    [logSettings, { level: 'loud' }],
    [traceSettings, { parent: 'trust' }],
    [dangerousSettings, { allowEverything: true }],
  ])('refuse what is out of bounds: %# %j', (schema, value) => {
    expect(schema.safeParse(value).success).toBe(false);
  });
});
