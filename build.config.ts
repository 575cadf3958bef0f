import { defineConfig } from 'vite';

/**
 * Programs of the package, by their names in `dist`. All files stand in `dist` itself, because `src/package-files.ts` and
 * the starts of threads look beside their own file.
 */
const programs = {
  cli: 'src/cli/main.ts',
  'compiled-code': 'src/cli/compiled-code.ts',
  index: 'src/index.ts',
  sqlite: 'src/storage/sqlite/index.ts',
  postgres: 'src/storage/postgres/index.ts',
  'resource-server': 'src/resource-server/index.ts',
  client: 'src/client/index.ts',
  'client-node': 'src/client/node/index.ts',
  'argument-thread': 'src/gateway/steps/argument-thread.ts',
  'call-thread': 'src/storage/sqlite/stores/call-thread.ts',
};

/**
 * Code that most programs share, one file each; the rest is split by the programs that load it. A program that needs a part
 * loads the whole file, so a group must load no more than its smallest part: `oauth` and `collections` load nothing.
 */
const shared = [
  { name: 'kernel', test: /\/src\/(?:oauth|collections)\// },
  { name: 'terminal', test: /\/src\/cli\/(?:cli-error|option-parsers|output)\b/ },
];

/**
 * Compiles the package into few files: a start of the server loads about 30 instead of 500. The dependencies stay
 * packages, so that users get their security updates without a release of Gatehouse. `tsc` writes the types.
 */
export default defineConfig({
  envDir: false,
  publicDir: false,
  logLevel: 'warn',
  ssr: { external: true },
  build: {
    ssr: true,
    target: 'es2024',
    outDir: 'dist',
    emptyOutDir: true,
    minify: false,
    rolldownOptions: {
      input: programs,
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: 'part-[name].js',
        codeSplitting: { groups: shared },
      },
    },
  },
});
