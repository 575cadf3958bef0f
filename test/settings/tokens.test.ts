import { describe, expect, it } from 'vitest';
import { tokenSettings } from '../../src/settings/tokens.ts';

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
