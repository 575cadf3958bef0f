import { expect, it } from 'vitest';
import { failureCode } from '../../src/doctor/failure.ts';

it('the code of a failure is that of its deepest cause', async () => {
  const error = await fetch('http://127.0.0.1:9/').catch((thrown: unknown) => thrown);
  expect(
    failureCode(new Error('outer', { cause: Object.assign(new Error('inner'), { code: 'EPROTO' }) })),
  ).toBe('EPROTO');
  expect(failureCode(new Error('none'))).toBeUndefined();
  expect(failureCode('text')).toBeUndefined();
  expect(error).toBeInstanceOf(Error);
});
