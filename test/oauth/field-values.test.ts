import { describe, expect, it } from 'vitest';
import { fieldValues } from '../../src/oauth/field-values.ts';

describe('the values of a header field', () => {
  const raw = ['Host', 'a.example', 'AUTHORIZATION', 'Bearer x', 'authorization', 'Bearer y', 'Hosts', 'z'];

  it('are found in any case, each as it was sent and in its order (T-101, T-107)', () => {
    expect(fieldValues(raw, 'authorization')).toEqual(['Bearer x', 'Bearer y']);
    expect(fieldValues(raw, 'host')).toEqual(['a.example']);
  });

  it('are none where the field was not sent, or is the value of another', () => {
    expect(fieldValues(raw, 'cookie')).toEqual([]);
    expect(fieldValues(['X-Name', 'host', 'X-Other', 'value'], 'host')).toEqual([]);
    expect(fieldValues([], 'host')).toEqual([]);
  });
});
