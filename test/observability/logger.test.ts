import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger, readLines } from '../../src/observability/logger.ts';
import { repository, runProgram } from '../support/program.ts';

/** Logs one object and gives the line as it was written. */
function logged(fields: object): { line: string; entry: Record<string, unknown> } {
  const lines: string[] = [];
  createLogger('debug', (line) => lines.push(line)).error(fields, 'an event');
  const [line = ''] = lines;
  return { line, entry: JSON.parse(line) };
}

/** A folder that is gone at the end of the test. */
function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
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

  it('shows a cause that is a word as it is, and an error by what it says', () => {
    expect(logged({ cause: 'SIGHUP' }).entry.cause).toBe('SIGHUP');
    expect(logged({ cause: failure('ENOENT') }).entry.cause).toMatchObject({ message: 'it failed' });
  });

  it('never holds a secret that an error carries (T-194)', () => {
    const error = Object.assign(new Error('it failed'), { token: 'SECRET', password: 'SECRET' });
    for (const fields of [{ err: error }, { cause: error }, { reason: error }])
      expect(logged(fields).line).not.toContain('SECRET');
    expect(logged({ err: error }).entry.err).toMatchObject({ message: 'it failed', token: '[redacted]' });
  });

  it('changes nothing of what it is given', () => {
    const fields = { body: { password: 'SECRET', name: 'ada' } };
    expect(logged(fields).entry.body).toEqual({ password: '[redacted]', name: 'ada' });
    expect(fields.body.password).toBe('SECRET');
  });

  it('stands on standard error in its order, the lines before an exit or a crash too', async () => {
    const folder = testFolder();
    const logger = join(repository, 'src/observability/logger.ts');
    for (const [end, code] of [
      ['process.exit(3)', 3],
      ["throw new Error('x')", 1],
    ] as const) {
      const file = join(folder, `${code}.ts`);
      const begin = `import { createLogger } from '${logger}'; const logger = createLogger('info');`;
      const lines = "for (let at = 0; at < 2000; at++) logger.info({ at }, 'x'.repeat(100));";
      writeFileSync(
        file,
        `${begin}\n${lines}\nsetTimeout(() => { logger.info({ at: 2000 }); ${end}; }, 20);`,
      );
      const program = runProgram(file, []);
      expect(await program.ended).toBe(code);
      const logged = program.written.stderr.split('\n').filter((line) => line.startsWith('{'));
      expect(logged.map((line) => JSON.parse(line).at)).toEqual(Array.from({ length: 2001 }, (_, at) => at));
    }
  });

  it('quotes no row of a database that an error of PostgreSQL names (T-194)', () => {
    const err = Object.assign(new Error('violates a constraint'), {
      ...{ code: '23514', detail: 'Failing row contains (ada, secret).', where: 'secret', hint: 'secret' },
    });
    expect(logged({ err }).line).toContain('violates a constraint');
    expect(logged({ err }).line).not.toContain('secret');
  });

  it('is one line an event, whatever it is given (T-195)', () => {
    const { line } = logged({ path: 'a\nb\u2028{"level":"error"}' });
    expect(line.trimEnd().split('\n')).toHaveLength(1);
  });

  it('can be read as it is printed, by one reader at a time, and only a logger of ours', () => {
    const printed: string[] = [];
    const read: string[] = [];
    const logger = createLogger('info', (line) => printed.push(line));
    const ends = ['one', 'two'].map((name) => readLines(logger, (line) => read.push(`${name} ${line}`)));
    logger.info({ token: 'SECRET' }, 'first');
    ends[0]?.();
    ends[0]?.();
    logger.info('second');
    ends[1]?.();
    logger.info('third');
    expect(read).toEqual([`one ${printed[0]}`, `two ${printed[1]}`]);
    expect(printed).toHaveLength(3);
    readLines({ info: () => undefined }, () => undefined)();
  });

  it('of a level leaves out what is below it', () => {
    const lines: string[] = [];
    const logger = createLogger('warn', (line) => lines.push(line));
    logger.info('quiet');
    logger.warn('loud');
    expect(lines).toHaveLength(1);
  });
});
