import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compiledCodeFolder } from '../../src/cli/compiled-code.ts';

const run = promisify(execFile);
const keeper = new URL('../../src/cli/compiled-code.ts', import.meta.url).href;

describe('what Node compiled, kept for the next start', () => {
  let home: string;
  let env: Record<string, string>;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'gatehouse-home-'));
    env = { GATEHOUSE_HOME: join(home, 'of', 'user') };
  });
  afterEach(() => rmSync(home, { recursive: true }));

  it('stands in a folder of the user alone, made with the first start', () => {
    const folder = compiledCodeFolder(env);
    expect(folder).toBe(join(home, 'of', 'user', 'compiled'));
    expect(statSync(String(folder)).mode & 0o777).toBe(0o700);
    expect(compiledCodeFolder(env)).toBe(folder);
  });

  it.each(['', 'compiled'])('is not read from a folder others can write to: home/%s', (writable) => {
    compiledCodeFolder(env);
    chmodSync(join(home, 'of', 'user', writable), 0o777);
    expect(compiledCodeFolder(env)).toBeUndefined();
  });

  it('is not read through a link, which may lead anywhere', () => {
    mkdirSync(join(home, 'of', 'user'), { recursive: true });
    symlinkSync(home, join(home, 'of', 'user', 'compiled'));
    expect(compiledCodeFolder(env)).toBeUndefined();
  });

  it('is done without where there can be no folder', () => {
    writeFileSync(join(home, 'of'), '');
    expect(compiledCodeFolder(env)).toBeUndefined();
  });

  it('is what a program was compiled to that ended', async () => {
    const program = join(home, 'program.mjs');
    writeFileSync(program, `export const answer = ${'1 + '.repeat(500)} 1;`);
    const start = `(await import('${keeper}')).keepCompiledCode(process.env); await import('${program}')`;
    const { NODE_COMPILE_CACHE: _ofTheTests, ...surroundings } = process.env;
    await run(process.execPath, ['--input-type=module', '-e', start], { env: { ...surroundings, ...env } });
    const kept = readdirSync(String(compiledCodeFolder(env)), { recursive: true });
    expect(kept.length).toBeGreaterThan(1);
  });
});
