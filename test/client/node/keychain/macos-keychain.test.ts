import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMacosKeychain } from '../../../../src/client/node/keychain/macos-keychain.ts';
import { standIn } from '../../support/stand-in.ts';

const env = { PATH: '/usr/bin:/bin' };

/** As `security` of macOS 15: `-i` reads commands; `-w` at the end prints the secret; 44 means that there is none. */
const security = `
if [ "$1" = -i ]; then
  read -r line; echo "$line" > "$seen/line"; echo "\${line##* }" > "$seen/secret"; exit 0
fi
[ "$1" = find-generic-password ] || exit 2
case "$(cat "$seen/line" 2>/dev/null)" in
  *" -a $5 "*) cat "$seen/secret";;
  *) echo 'The specified item could not be found in the keychain.' >&2; exit 44;;
esac`;

describe.skipIf(process.platform === 'win32')('the keychain of macOS', () => {
  it('keeps a key that never stands in the arguments (T-191)', async () => {
    const { command, seen } = standIn(security);
    const keychain = createMacosKeychain(env, command);
    const key = randomBytes(32);
    const reference = await keychain.keep(key);
    expect(await keychain.find(reference)).toEqual(key);
    expect(await keychain.find('another')).toBeUndefined();
    expect(readFileSync(join(seen, 'arguments'), 'utf8')).not.toContain(key.toString('hex'));
    expect(readFileSync(join(seen, 'line'), 'utf8')).toBe(
      `add-generic-password -U -s mcp-gatehouse -a ${reference} -l "Gatehouse logins" -w ${key.toString('hex')}\n`,
    );
  });

  it('says that it is locked, as over SSH', async () => {
    const { command } = standIn("echo 'User interaction is not allowed.' >&2; exit 36");
    const keychain = createMacosKeychain(env, command);
    await expect(keychain.find('one')).rejects.toThrow('ended with 36: User interaction is not allowed.');
    await expect(keychain.keep(randomBytes(32))).rejects.toThrow('User interaction is not allowed.');
  });
});
