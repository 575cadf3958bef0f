import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin, Rolldown } from 'vite';

/** Names the folder of compiled programs to the tests; scripts/test sets it. */
const folderVariable = 'GATEHOUSE_COMPILED_PROGRAMS';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const cache = join(repository, 'node_modules/.cache/gatehouse-programs');

/**
 * Programs that tests start hundreds of times, from the repository's root. Compiled into a few files each starts in half
 * the processor time: otherwise it loads more than a thousand.
 */
const programs: readonly string[] = [
  'src/cli/main.ts',
  'test/flows/cluster/support/node.ts',
  'test/support/backend/asking-program.ts',
  'test/support/conformance-backends/modern-stdio.ts',
  'test/support/conformance-backends/stdio.ts',
  'test/support/suite/everything-client.ts',
];

/** Maximum age of a folder that a run may still use, in milliseconds. */
const maxRunMs = 3 * 60 * 60_000;

/** Keeps the URL of each source file: programs find their migrations, threads and package.json beside it. */
const keepSourceUrls: Plugin = {
  name: 'keep-source-urls',
  enforce: 'pre',
  transform(code, id) {
    if (!code.includes('import.meta') || id.includes('/node_modules/')) return undefined;
    const url = JSON.stringify(pathToFileURL(id).href);
    return code
      .replaceAll('import.meta.url', url)
      .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
      .replaceAll('import.meta.filename', JSON.stringify(id));
  },
};

/** Returns what one program and its packages are compiled to. */
async function bundle(program: string): Promise<Rolldown.OutputChunk[]> {
  const { build } = await import('vite');
  const outcome = await build({
    configFile: false,
    envFile: false,
    root: repository,
    logLevel: 'silent',
    publicDir: false,
    plugins: [keepSourceUrls],
    // These find native code, or the source of a thread, beside their own files.
    ssr: { noExternal: true, external: ['better-sqlite3', '@node-rs/argon2', 'pino'] },
    build: {
      ssr: true,
      target: 'node24',
      write: false,
      minify: false,
      rolldownOptions: {
        input: { [nameOf(program)]: join(repository, program) },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  });
  const { output } = outcome as Rolldown.RolldownOutput;
  return output.filter((file) => file.type === 'chunk');
}

/** Removes what earlier runs of other sources left. */
function removeOld(): void {
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name);
    const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > maxRunMs) rmSync(folder, { recursive: true, force: true });
  }
}

/** Compiles the programs, if their sources have changed. Returns the folder they are in. */
async function compilePrograms(): Promise<string> {
  // Each by itself, as a file that several programs share would load the packages of all.
  const files = (await Promise.all(programs.map(bundle))).flat();
  const hash = createHash('sha256');
  for (const { fileName, code } of files) hash.update(`${fileName}\n${code}\n`);
  const folder = join(cache, hash.digest('hex').slice(0, 16));
  if (!statSync(folder, { throwIfNoEntry: false })) {
    const draft = `${folder}-${randomUUID()}`;
    mkdirSync(draft, { recursive: true });
    for (const { fileName, code } of files) writeFileSync(join(draft, fileName), code);
    try {
      renameSync(draft, folder);
    } catch (error) {
      // Another run was faster.
      rmSync(draft, { recursive: true, force: true });
      if (!statSync(folder, { throwIfNoEntry: false })) throw error;
    }
  }
  removeOld();
  return folder;
}

function nameOf(program: string): string {
  return program.replace(/\.ts$/, '').replaceAll('/', '.');
}

/**
 * Returns the compiled form of a program, if there is one, or the program itself.
 * @param file from the repository's root, or absolute
 */
export function compiledProgram(file: string): string {
  const folder = process.env[folderVariable];
  const program = relative(repository, resolve(repository, file));
  return folder !== undefined && programs.includes(program) ? join(folder, `${nameOf(program)}.js`) : file;
}

// scripts/test runs this file before the tests.
if (import.meta.main) process.stdout.write(await compilePrograms());
