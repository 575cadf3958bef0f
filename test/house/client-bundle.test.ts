import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { root } from './sources.ts';

it('the client is bundled for a browser whole, without a module of Node (mcp-gatehouse/client runs on any fetch runtime)', async () => {
  const { build } = await import('vite');
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bundle-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const entry = join(folder, 'entry.ts');
  const client = fileURLToPath(new URL('src/client/index.ts', root));
  writeFileSync(
    entry,
    `import * as client from ${JSON.stringify(client)};\nexport const names = Object.keys(client);\n`,
  );
  const built = await build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    build: { lib: { entry, formats: ['es'], fileName: 'bundle' }, minify: false, write: false },
  });
  const chunks = [built].flat().flatMap((part) => ('output' in part ? part.output : []));
  const code = chunks.map((chunk) => ('code' in chunk ? chunk.code : '')).join('\n');
  expect(code).toContain('withAuthorization');
  expect(code).not.toMatch(/(?:from|import\(|require\()\s*['"]node:/);
  expect(code).not.toContain('__vite-browser-external');
});
