import { describe, expect, it } from 'vitest';
import { packageVersion } from '../src/package-version.ts';

describe('the version', () => {
  it('is that of the package', () => {
    expect(packageVersion()).toMatch(/^\d+\.\d+\.\d+/);
  });
});
