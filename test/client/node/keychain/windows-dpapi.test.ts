import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWindowsDpapi } from '../../../../src/client/node/keychain/windows-dpapi.ts';
import { standIn } from '../../support/stand-in.ts';

const env = { PATH: '/usr/bin:/bin' };

/** Wraps by turning the text round, as base64 of it. */
const powershell = `
case "$4" in
  *'::Protect('*) rev | base64 -w 0;;
  *'::Unprotect('*) base64 -d | rev;;
  *) exit 1;;
esac`;

describe.skipIf(process.platform === 'win32')('the data protection of Windows', () => {
  it('wraps a key that never stands in the arguments (T-191)', async () => {
    const { command, seen } = standIn(powershell);
    const protection = createWindowsDpapi(env, command);
    const key = randomBytes(32);
    const reference = await protection.keep(key);
    expect(reference).not.toContain(key.toString('base64'));
    expect(await protection.find(reference)).toEqual(key);
    expect(readFileSync(join(seen, 'arguments'), 'utf8')).not.toContain(key.toString('base64'));
  });

  it('says what PowerShell says', async () => {
    const { command } = standIn("echo 'Key not valid for use in specified state.' >&2; exit 1");
    await expect(createWindowsDpapi(env, command).find('x')).rejects.toThrow('Key not valid for use');
  });
});
