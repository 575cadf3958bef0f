import { describe, expect, it } from 'vitest';
import { describeDevice, userCodeMask } from '../../../src/authorization-server/device/engine-feature.ts';

const code = { userCode: 'BCDFGHJK', deviceInfo: { address: '203.0.113.7' }, iat: 1000 };

describe('the request of a device', () => {
  it('is shown with the code as the device shows it, the address and how long ago it was', () => {
    expect(describeDevice(code as unknown as Parameters<typeof describeDevice>[0], 1090)).toEqual({
      userCode: 'BCDF-GHJK',
      address: '203.0.113.7',
      askedSecondsAgo: 90,
    });
    expect(userCodeMask.replaceAll('*', 'B')).toBe('BBBB-BBBB');
  });

  it('was not made in the future, whatever the clock says', () => {
    expect(describeDevice(code as unknown as Parameters<typeof describeDevice>[0], 900).askedSecondsAgo).toBe(
      0,
    );
  });
});
