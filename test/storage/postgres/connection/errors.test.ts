import { describe, expect, it } from 'vitest';
import {
  isOutage,
  toOpeningFault,
  toUnavailable,
} from '../../../../src/storage/postgres/connection/errors.ts';
import { StorageFault, StorageUnavailable, StorageUnreachable } from '../../../../src/storage/storage.ts';

const withCode = (code: string): Error => Object.assign(new Error('from the driver'), { code });

describe('errors of PostgreSQL', () => {
  it.each(['57P01', '08006', '53300', '55P03', '57014', '25P03', 'ECONNREFUSED', 'ENOTFOUND'])(
    'of the server and the network are outages: %s',
    (code) => {
      expect(isOutage(withCode(code))).toBe(true);
      expect(toUnavailable(withCode(code), 'read')).toBeInstanceOf(StorageUnavailable);
    },
  );

  it.each(['23505', '42601', '22P02', 'P0001'])('of a statement are none: %s', (code) => {
    const error = withCode(code);
    expect(toUnavailable(error, 'written')).toBe(error);
  });

  it('of our own code stay as they are', () => {
    const error = new TypeError('not the database');
    expect(toUnavailable(error, 'written')).toBe(error);
  });

  it.each([
    ['28P01', /Check user and password/],
    ['3D000', /Create it/],
    ['42501', /CREATE SCHEMA/],
    ['ECONNREFUSED', /cannot be reached \(ECONNREFUSED\)/],
    ['42P01', /cannot be used \(42P01/],
  ])('at the start say what to do: %s', (code, sentence) => {
    const fault = toOpeningFault(withCode(code));
    expect(fault).toBeInstanceOf(StorageFault);
    expect(fault.message).toMatch(sentence);
  });

  it('at the start pass by themselves only if server or network may come back', () => {
    for (const code of ['ECONNREFUSED', 'ENOTFOUND', '57P03', '53300'])
      expect(toOpeningFault(withCode(code)), code).toBeInstanceOf(StorageUnreachable);
    const lasting = ['ERR_INVALID_URL', 'ERR_OSSL_PEM_NO_START_LINE', '28P01', '42P01'].map(withCode);
    for (const error of [...lasting, new Error('SASL: client password must be a string'), new TypeError('x')])
      expect(toOpeningFault(error), error.message).not.toBeInstanceOf(StorageUnreachable);
    const aborted = new DOMException('told to stop', 'AbortError');
    expect(toOpeningFault(aborted)).toBe(aborted);
  });
});
