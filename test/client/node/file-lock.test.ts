import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  isRunning,
  lifeOf,
  parseHolder,
  processSpace,
  thisHolder,
  withFileLock,
} from '../../../src/client/node/file-lock.ts';
import { runFile } from '../support/child.ts';
import { testFolder } from '../support/folder.ts';

describe('a lock file', () => {
  it('lets one work at a time and is gone afterwards, also after a failure (T-188)', async () => {
    const file = join(testFolder(), 'lock');
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++inside);
      await sleep(5);
      inside--;
    };
    await Promise.all(Array.from({ length: 8 }, () => withFileLock(file, work)));
    await expect(withFileLock(file, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect([most, existsSync(file)]).toEqual([1, false]);
  });

  it('that a dead process left is taken over after 30 s, by one only (T-188)', async () => {
    const file = join(testFolder(), 'lock');
    writeFileSync(file, 'dead');
    const longAgo = new Date(Date.now() - 31_000);
    utimesSync(file, longAgo, longAgo);
    const log: string[] = [];
    const work = (name: string) => async (): Promise<void> => {
      log.push(name);
      await sleep(10);
      log.push(name);
    };
    await Promise.all([withFileLock(file, work('a')), withFileLock(file, work('b'))]);
    expect([log[0] === log[1], log[2] === log[3]]).toEqual([true, true]);
    expect([existsSync(file), existsSync(`${file}.stale`)]).toEqual([false, false]);
  });

  it('of a process of this machine that was killed is taken over at once, and the work is told (T-188)', async () => {
    const file = join(testFolder(), 'lock');
    const child = runFile('-e', ['']);
    await child.ended;
    writeFileSync(file, JSON.stringify({ ...thisHolder(), pid: child.process.pid }));
    const begun = performance.now();
    expect(await withFileLock(file, async (takenOver) => takenOver)).toBe(true);
    expect(performance.now() - begun).toBeLessThan(1_000);
    expect(await withFileLock(file, async (takenOver) => takenOver)).toBe(false);
  });

  it('that is taken over takes away what killed processes left beside it', async () => {
    const folder = testFolder();
    const file = join(folder, 'lock');
    const longAgo = new Date(Date.now() - 31_000);
    for (const name of ['lock', `lock.${randomUUID()}`, 'lock.json', `other.${randomUUID()}`]) {
      writeFileSync(join(folder, name), 'dead');
      utimesSync(join(folder, name), longAgo, longAgo);
    }
    writeFileSync(join(folder, `lock.${randomUUID()}`), 'being written');
    await withFileLock(file, async () => undefined);
    expect(
      readdirSync(folder)
        .map((name) => name.replace(/\.[\da-f-]{36}$/, '.draft'))
        .sort(),
    ).toEqual(['lock.draft', 'lock.json', 'other.draft']);
  });

  it('of a process that runs is waited for, though its time stamp is old: the machine may have slept', async () => {
    const file = join(testFolder(), 'lock');
    writeFileSync(file, JSON.stringify(thisHolder()));
    const longAgo = new Date(Date.now() - 3_600_000);
    utimesSync(file, longAgo, longAgo);
    const begun = performance.now();
    expect(await withFileLock(file, async (takenOver) => takenOver, 200)).toBe(true);
    expect(performance.now() - begun).toBeGreaterThan(200);
  });

  it('that a dead process left while taking over is removed as well', async () => {
    const file = join(testFolder(), 'lock');
    const longAgo = new Date(Date.now() - 31_000);
    for (const left of [file, `${file}.stale`]) {
      writeFileSync(left, 'dead');
      utimesSync(left, longAgo, longAgo);
    }
    expect(await withFileLock(file, async () => 'mine')).toBe('mine');
  });

  it('of a living holder is kept fresh, however long the work takes', async () => {
    const file = join(testFolder(), 'lock');
    const log: string[] = [];
    const slow = withFileLock(
      file,
      async () => {
        await sleep(400);
        log.push('slow');
      },
      150,
    );
    await sleep(20);
    await withFileLock(file, async () => log.push('next'), 150);
    await slow;
    expect(log).toEqual(['slow', 'next']);
  });

  it('of somebody else is left alone', async () => {
    const file = join(testFolder(), 'lock');
    await withFileLock(file, async () => writeFileSync(file, 'theirs'));
    expect(readFileSync(file, 'utf8')).toBe('theirs');
  });
});

describe('the holder of a lock', () => {
  it('is written and read, and no two are the same', () => {
    const [one, two] = [thisHolder(), thisHolder()];
    expect(parseHolder(JSON.stringify(one))).toEqual(one);
    expect(one.id).not.toBe(two.id);
  });

  it.each(['', '{', '"x"', '{"id":"a"}', '{"id":"a","pid":-1,"space":"s"}'])(
    'is not known from the text %s',
    (text) => {
      expect(parseHolder(text)).toBeUndefined();
    },
  );

  it('runs, is dead, or is out of sight', async () => {
    const child = runFile('-e', ['']);
    await child.ended;
    const ended = { ...thisHolder(), pid: child.process.pid ?? 0 };
    expect(lifeOf(thisHolder())).toBe('running');
    expect(lifeOf(ended)).toBe('dead');
    expect(lifeOf({ ...ended, space: 'another machine' })).toBe('unknown');
    expect(lifeOf(undefined)).toBe('unknown');
  });
});

describe('process space', () => {
  describe('the space of process ids', () => {
    it('is this machine, and the same for every process of it', async () => {
      expect(processSpace()).toContain(hostname());
      const module = new URL('../../../src/client/node/file-lock.ts', import.meta.url).href;
      const script = `import(${JSON.stringify(module)}).then((m) => process.stdout.write(m.processSpace()))`;
      const child = runFile('-e', [script]);
      expect([await child.ended, child.output.stdout]).toEqual([0, processSpace()]);
    });
  });

  describe('a process', () => {
    it('runs until it ends', async () => {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
      const { pid = 0 } = child;
      expect([isRunning(pid), isRunning(process.pid)]).toEqual([true, true]);
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('close', resolve));
      expect(isRunning(pid)).toBe(false);
    });
  });
});
