import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadSettings } from '../../src/config/load.ts';
import { testFolder } from '../client/support/folder.ts';
import { repository, runProgram } from '../support/program.ts';
import { commandLine } from '../support/served.ts';

const examples = globSync('config/examples/*.json', { cwd: repository }).map((file) =>
  join(repository, file),
);

describe('the example configurations', () => {
  it('are there', () => {
    expect(examples.map((file) => basename(file)).sort()).toEqual([
      'behind-proxy.json',
      'container.json',
      'local.json',
    ]);
  });

  it.each(examples)('%s starts, and publishes the URL it names', async (file) => {
    const { publicUrl } = loadSettings(file, {});
    const program = runProgram(
      commandLine,
      ['serve', '--config', file, '--port', '0', '--json', '--data', testFolder()],
      { input: '' },
    );
    onTestFinished(() => program.stop());
    const [text] = await program.waitFor('stdout', /\{[\s\S]*\n\}/);
    const facts = JSON.parse(text) as { publicUrl: string; port: number };
    const base = `http://127.0.0.1:${facts.port}`;
    expect(facts.publicUrl).toBe(publicUrl ?? `http://localhost:${facts.port}`);
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
    const metadata = await fetch(`${base}/.well-known/oauth-authorization-server`);
    expect(await metadata.json()).toMatchObject({
      issuer: facts.publicUrl,
      token_endpoint: `${facts.publicUrl}/token`,
    });
  });

  it('name a schema that is there', () => {
    for (const file of examples) {
      const { $schema } = JSON.parse(readFileSync(file, 'utf8')) as { $schema: string };
      expect(() => JSON.parse(readFileSync(join(file, '..', $schema), 'utf8'))).not.toThrow();
    }
  });
});
