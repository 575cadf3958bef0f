// The image cannot be built where no container engine runs: what its file says is done in a folder instead, step by step,
// but for the downloads.
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testFolder } from '../client/support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { repository, runExecutable } from '../support/program.ts';

const run = promisify(execFile);
const text = readFileSync(join(repository, 'config/Dockerfile'), 'utf8');

interface Instruction {
  name: string;
  rest: string;
}

/** The instructions of each stage. */
const stages: Instruction[][] = [];
for (const line of text
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((one) => one.trim() !== '')) {
  const [, name = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
  if (name === 'FROM') stages.push([]);
  stages.at(-1)?.push({ name, rest });
}
const [build = [], image = []] = stages;
const last = (name: string): string => image.findLast((one) => one.name === name)?.rest ?? '';
const list = (json: string): string[] => JSON.parse(json.slice(json.indexOf('['))) as string[];

/** Does what can be done of a stage without an engine: COPY, and the RUN lines that are named. */
async function carryOut(stage: Instruction[], folder: string, from: string, runs: RegExp): Promise<void> {
  const done: string[] = [];
  for (const { name, rest } of stage) {
    if (name === 'RUN' && runs.test(rest)) {
      await run('sh', ['-c', rest], { cwd: folder });
      done.push(rest);
    }
    if (name !== 'COPY') continue;
    const words = rest.split(/\s+/).filter((word) => !word.startsWith('--'));
    const target = words.pop() ?? '';
    for (const word of words) {
      const source = word.startsWith('/build/')
        ? join(from, word.slice('/build/'.length))
        : join(repository, word);
      const name = target.endsWith('/') ? join(target, word.split('/').at(-1) ?? '') : target;
      const place = join(folder, name);
      mkdirSync(join(place, '..'), { recursive: true });
      cpSync(source, place, { recursive: true, verbatimSymlinks: true });
    }
  }
  if (runs.source !== '$^' && done.length === 0) throw new Error(`no RUN line fits ${runs}`);
}

describe('the Dockerfile', () => {
  it('has an image without the tools of the build, whose program is started by no shell and not as root', () => {
    expect(stages).toHaveLength(2);
    expect(build.some(({ rest }) => rest.startsWith('npm prune --omit=dev'))).toBe(true);
    expect(list(last('ENTRYPOINT'))[0]).toBe('node');
    expect(list(last('CMD'))[0]).toBe('serve');
    const names = image.map(({ name }) => name);
    expect(last('USER')).toBe('node');
    expect(names.slice(names.indexOf('USER'))).not.toContain('RUN');
    expect(last('VOLUME')).toBe('/data');
  });

  it('copies what there is, and nothing that its list of what to leave out keeps away', () => {
    const sent = readFileSync(join(repository, 'config/Dockerfile.dockerignore'), 'utf8').split('\n');
    const sources = stages
      .flat()
      .filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from'))
      .flatMap(({ rest }) => rest.split(/\s+/).slice(0, -1));
    for (const source of sources) {
      expect([source, existsSync(join(repository, source))]).toEqual([source, true]);
      expect(sent).toContain(`!${source}`);
    }
  });

  it('gives a server that starts, is well, and ends by SIGTERM', { timeout: 120_000 }, async () => {
    const folder = testFolder();
    const [built, app] = [join(folder, 'build'), join(folder, 'app')];
    for (const place of [built, app]) mkdirSync(place);
    symlinkSync(join(repository, 'node_modules'), join(built, 'node_modules'));
    await carryOut(build, built, '', /^npm run build/);
    // The packages are linked, not copied: they are the same.
    const withoutPackages = image.filter(({ rest }) => !rest.includes('/build/node_modules'));
    await carryOut(withoutPackages, app, built, /$^/);
    symlinkSync(join(repository, 'node_modules'), join(app, 'node_modules'));

    const port = await freePort();
    const example = JSON.parse(
      readFileSync(join(repository, 'config/examples/container.json'), 'utf8'),
    ) as object;
    const config = join(folder, 'gatehouse.json');
    const listen = { host: '127.0.0.1', port };
    writeFileSync(
      config,
      JSON.stringify({ ...example, $schema: undefined, listen, data: join(folder, 'data') }),
    );
    const [node = '', ...entry] = list(last('ENTRYPOINT'));
    const args = [...entry, ...list(last('CMD'))].map((word) =>
      word.replace(/^\/app\b/, app).replace('/etc/gatehouse/gatehouse.json', config),
    );
    const program = runExecutable(node, args, { input: '', env: { GATEHOUSE_HOME: join(folder, 'home') } });
    onTestFinished(() => program.stop());
    await program.waitFor('stdout', /mcp\.example\.com\/mcp/);

    const [command = '', ...health] = list(last('HEALTHCHECK'));
    const asked = health.map((word) => word.replace(':3000', `:${port}`));
    await expect(run(command, asked)).resolves.toBeDefined();
    program.process.kill('SIGTERM');
    expect(await program.ended).toBe(0);
    await expect(run(command, asked)).rejects.toMatchObject({ code: 1 });
    rmSync(join(built, 'node_modules'));
  });
});
