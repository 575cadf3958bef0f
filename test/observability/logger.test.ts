import { describe, expect, it } from 'vitest';
import { createLogger, loggable } from '../../src/observability/logger.ts';

/** Logs one object and gives the line as it was written. */
function logged(fields: object): { line: string; entry: Record<string, unknown> } {
  const lines: string[] = [];
  createLogger('debug', (line) => lines.push(line)).error(fields, 'an event');
  const [line = ''] = lines;
  return { line, entry: JSON.parse(line) };
}

const failure = (code: string): Error => Object.assign(new Error('it failed'), { code });

describe('the log', () => {
  it.each([
    'authorization',
    'cookie',
    'password',
    'access_token',
    'refresh_token',
    'id_token',
    'client_secret',
    'code',
    'code_verifier',
    'token',
    'registration_access_token',
  ])('never holds %s, alone, in a body or in a query (T-194)', (name) => {
    for (const fields of [
      { [name]: 'SECRET' },
      { body: { [name]: 'SECRET' } },
      { query: { [name]: 'SECRET' } },
    ])
      expect(logged(fields).line).not.toContain('SECRET');
  });

  it.each(['SQLITE_FULL', 'ENOTFOUND', 'ERR_INVALID_ARG_TYPE'])('names what failed: %s', (code) => {
    expect(logged({ err: failure(code) }).entry.err).toMatchObject({ errorCode: code, message: 'it failed' });
    expect(logged({ err: new Error('x'), cause: failure(code) }).entry.cause).toMatchObject({
      errorCode: code,
    });
  });

  it('takes for the code of an error only what looks like one, and only there (T-194)', () => {
    expect(logged({ err: failure('aBc-secret_code') }).line).not.toContain('secret_code');
    expect(logged({ body: { code: 'SQLITE_FULL' } }).line).not.toContain('SQLITE_FULL');
    expect(logged({ code: 'SQLITE_FULL' }).line).not.toContain('SQLITE_FULL');
  });

  it('is one line an event, whatever it is given (T-195)', () => {
    const { line } = logged({ path: 'a\nb\u2028{"level":"error"}' });
    expect(line.trimEnd().split('\n')).toHaveLength(1);
  });

  it('bears what others chose up to a length (T-195)', () => {
    expect(loggable(undefined)).toBeUndefined();
    expect(loggable('x'.repeat(500))).toBe('x'.repeat(500));
    expect(loggable('x'.repeat(501))).toBe(`${'x'.repeat(500)}… (501 characters)`);
  });

  it('of a level leaves out what is below it', () => {
    const lines: string[] = [];
    const logger = createLogger('warn', (line) => lines.push(line));
    logger.info('quiet');
    logger.warn('loud');
    expect(lines).toHaveLength(1);
  });
});
