import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { buildConfigSchema, buildReferenceFiles, formatReference } from '../../src/config/reference.ts';
import { parseSettings } from '../../src/options.ts';

const root = new URL('../../', import.meta.url);

/** Full names of all settings, from what the program really uses. */
function namesOf(value: object, path = ''): string[] {
  return Object.entries(value).flatMap(([name, setting]: [string, unknown]) =>
    typeof setting === 'object' && setting !== null && !Array.isArray(setting)
      ? namesOf(setting, `${path}${name}.`)
      : [`${path}${name}`],
  );
}

describe('the option reference', () => {
  it.each(Object.entries(buildReferenceFiles()))(
    'in %s is up to date (npm run reference)',
    (file, content) => {
      expect(readFileSync(new URL(file, root), 'utf8')).toBe(content);
    },
  );

  it('names every setting with its default, and says what it does', () => {
    const text = formatReference();
    for (const name of ['publicUrl', ...namesOf(parseSettings({}))]) {
      const row = text.split('\n').find((line) => line.startsWith(`| \`${name}\` |`));
      expect(row, name).toMatch(/\| [^|]{10,} \|$/);
    }
    expect(text).toContain('| `tokens.codeSeconds` | integer from 1 to 600 | `60` |');
  });

  it('is a schema that knows no other names, and lets a file name its schema', () => {
    const schema = buildConfigSchema();
    expect(schema.additionalProperties).toBe(false);
    expect(Object.keys(schema.properties ?? {})).toEqual(
      expect.arrayContaining(['$schema', 'publicUrl', ...Object.keys(parseSettings({}))]),
    );
  });
});
