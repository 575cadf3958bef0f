import { describe, expect, it } from 'vitest';
import { createSealAnew, type SealAnewOptions } from '../../../src/authorization-server/keys/key-care.ts';
import { generateSealingKey } from '../../../src/crypto/key-schedule.ts';
import { createSealedBox, sealingKeyOf } from '../../../src/crypto/sealed-box.ts';

/** Rows in memory, by context. */
function startRows(rows: Map<string, Uint8Array>, box: SealAnewOptions['box']) {
  const warnings: object[] = [];
  const sealAnew = createSealAnew({
    rows: {
      countByKey: async () => {
        const counts = new Map<string, number>();
        for (const sealed of rows.values()) counts.set(sealingKeyOf(sealed) ?? '', 1);
        return counts;
      },
      reseal: async (keyId, reseal) => {
        for (const [context, sealed] of rows)
          if (sealingKeyOf(sealed) === keyId) rows.set(context, reseal(sealed, context) ?? sealed);
      },
    },
    box,
    logger: { warn: (details: object) => void warnings.push(details) } as SealAnewOptions['logger'],
  });
  return { sealAnew, warnings };
}

describe('the change to another sealing key', () => {
  const [old, fresh] = [generateSealingKey(), generateSealingKey()];
  const [before, after] = [createSealedBox([old]), createSealedBox([fresh, old])];

  it('leaves nothing under the old one, and what was sealed readable (T-179)', async () => {
    const rows = new Map([['a', before.seal('text', 'a')] as [string, Uint8Array]]);
    const { sealAnew, warnings } = startRows(rows, after);
    expect(await sealAnew(old.id)).toBe(true);
    expect(createSealedBox([fresh]).open(rows.get('a') ?? Buffer.of(), 'a')).toBe('text');
    expect(warnings).toEqual([]);
  });

  it('keeps the old one for what cannot be opened, and says so', async () => {
    const rows = new Map([['a', before.seal('text', 'somewhere else')] as [string, Uint8Array]]);
    const { sealAnew, warnings } = startRows(rows, after);
    expect(await sealAnew(old.id)).toBe(false);
    expect(warnings).toEqual([{ keyId: old.id, rows: 1 }]);
  });
});
