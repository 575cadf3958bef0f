import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

/** A symmetric key with the name that stands in front of everything it sealed. */
export interface SealingKey {
  id: string;
  /** 32 bytes, base64url. */
  key: string;
}

/** Seals text so that it can only be read, unchanged, under the same context. */
export interface SealedBox {
  /** @param context what the text is and whose; opening needs the same */
  seal(text: string, context: string): Buffer;
  /** @throws SealBroken where the key is gone, the bytes were changed or the context differs */
  open(sealed: Uint8Array, context: string): string;
}

/** Sealed data that cannot be opened. */
export class SealBroken extends Error {
  override name = 'SealBroken';
}

const version = 1;
const nonceLength = 12;
const tagLength = 16;

/** Names the key that something was sealed under; undefined for what was not sealed. */
export function sealingKeyOf(sealed: Uint8Array): string | undefined {
  const idLength = sealed[1] ?? 0;
  if (sealed[0] !== version || sealed.length <= 2 + idLength) return undefined;
  return Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength).toString('latin1', 2, 2 + idLength);
}

/**
 * Creates a box over AES-256-GCM (NIST SP 800-38D) with a random nonce per message.
 * Layout: version, length of key id, key id, nonce, tag, ciphertext.
 * @param keys the first one seals, every one opens; looked at for each message, so the list may change
 */
export function createSealedBox(keys: readonly SealingKey[]): SealedBox {
  if (keys.length === 0) throw new TypeError('a sealed box needs at least one key');
  // A key object, because Node 24 takes three times as long with bytes, which it turns into one for each message.
  const secrets = new WeakMap<SealingKey, KeyObject>();
  const secretOf = (key: SealingKey): KeyObject => {
    const known = secrets.get(key);
    if (known) return known;
    const secret = createSecretKey(key.key, 'base64url');
    secrets.set(key, secret);
    return secret;
  };

  return {
    seal(text, context) {
      const current = keys[0] as SealingKey;
      const header = Buffer.from(`${String.fromCharCode(version, current.id.length)}${current.id}`, 'latin1');
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv('aes-256-gcm', secretOf(current), nonce);
      cipher.setAAD(Buffer.from(context));
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([header, nonce, cipher.getAuthTag(), ciphertext]);
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
      const id = sealingKeyOf(bytes);
      const key = keys.find((candidate) => candidate.id === id);
      if (id === undefined || !key) throw new SealBroken('sealed under a key that is not in the key file');
      const start = 2 + id.length;
      try {
        const decipher = createDecipheriv(
          'aes-256-gcm',
          secretOf(key),
          bytes.subarray(start, start + nonceLength),
          { authTagLength: tagLength },
        );
        decipher.setAAD(Buffer.from(context));
        decipher.setAuthTag(bytes.subarray(start + nonceLength, start + nonceLength + tagLength));
        return Buffer.concat([
          decipher.update(bytes.subarray(start + nonceLength + tagLength)),
          decipher.final(),
        ]).toString('utf8');
      } catch (cause) {
        throw new SealBroken('sealed data was changed or belongs elsewhere', { cause });
      }
    },
  };
}
