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

  it('gives a server that starts with a config file or with variables, is well at its port, and ends by SIGTERM (FA-63)', {
    timeout: 120_000,
  }, async () => {
    const folder = testFolder();
    const [built, app] = [join(folder, 'build'), join(folder, 'app')];
    for (const place of [built, app]) mkdirSync(place);
    symlinkSync(join(repository, 'node_modules'), join(built, 'node_modules'));
    await carryOut(build, built, '', /^npm run build/);
    // The packages are linked, not copied: they are the same.
    const withoutPackages = image.filter(({ rest }) => !rest.includes('/build/node_modules'));
    await carryOut(withoutPackages, app, built, /$^/);
    symlinkSync(join(repository, 'node_modules'), join(app, 'node_modules'));

    const example = JSON.parse(
      readFileSync(join(repository, 'config/examples/container.json'), 'utf8'),
    ) as object;
    const start = async (given: object, variables: Record<string, string>, shown: RegExp) => {
      const home = testFolder();
      const config = join(home, 'gatehouse.json');
      const data = join(home, 'data');
      writeFileSync(config, JSON.stringify({ ...given, $schema: undefined, data }));
      const env = { GATEHOUSE_HOME: join(home, 'home'), GATEHOUSE_CONFIG: config, ...variables };
      const inApp = (word: string): string => word.replace(/^\/app\b/, app);
      const [node = '', ...entry] = list(last('ENTRYPOINT'));
      const args = [...entry, ...list(last('CMD'))].map(inApp);
      const program = runExecutable(node, args, { input: '', env });
      onTestFinished(() => program.stop());
      await program.waitFor('stdout', shown);
      const [command = '', ...health] = list(last('HEALTHCHECK'));
      const isWell = () => run(command, health.map(inApp), { env: { ...process.env, ...env } });
      await expect(isWell()).resolves.toBeDefined();
      program.process.kill('SIGTERM');
      expect(await program.ended).toBe(0);
      await expect(isWell()).rejects.toMatchObject({ code: 1 });
    };
    const [port, other] = [await freePort(), await freePort()];
    await start({ ...example, listen: { host: '127.0.0.1', port } }, {}, /mcp\.example\.com\/mcp/);

    const shipped = JSON.parse(readFileSync(join(app, 'etc/gatehouse/gatehouse.json'), 'utf8')) as object;
    expect(shipped).toMatchObject({ listen: { host: '0.0.0.0', port: 3000 }, data: '/data' });
    const variables = { GATEHOUSE_PORT: String(other), GATEHOUSE_PUBLIC_URL: 'https://mcp.example.org' };
    await start({ ...shipped, listen: { host: '127.0.0.1' } }, variables, /mcp\.example\.org\/mcp/);
    rmSync(join(built, 'node_modules'));
  });
});
