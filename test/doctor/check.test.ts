import { expect, it } from 'vitest';
import { fail, pass, skip, unknown, warn } from '../../src/doctor/check.ts';

it('a judgement carries its verdict, what was seen, and nothing that is not there', () => {
  expect(pass('fine')).toEqual({ verdict: 'pass', saw: 'fine' });
  expect(skip('none', { because: 'A' })).toEqual({ verdict: 'skip', saw: 'none', because: 'A' });
  expect(unknown('dark', { evidence: [1] })).toEqual({ verdict: 'unknown', saw: 'dark', evidence: [1] });
  expect(warn('odd', 'change it', { hints: [] })).toEqual({ verdict: 'warn', saw: 'odd', fix: 'change it' });
  const hints = [{ product: 'nginx' as const, lines: 'gzip off;' }];
  expect(fail('bad', 'mend it', { hints })).toEqual({ verdict: 'fail', saw: 'bad', fix: 'mend it', hints });
});
