import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

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

/**
 * Creates a box over AES-256-GCM (NIST SP 800-38D) with a random nonce per message.
 * Layout: version, length of key id, key id, nonce, tag, ciphertext.
 * @param keys the first one seals, every one opens: put a new key in front to rotate
 */
export function createSealedBox(keys: readonly SealingKey[]): SealedBox {
  const secrets = new Map(keys.map(({ id, key }) => [id, Buffer.from(key, 'base64url')]));
  const current = keys[0];
  if (!current) throw new TypeError('a sealed box needs at least one key');
  const header = Buffer.concat([
    Buffer.from([version, current.id.length]),
    Buffer.from(current.id, 'latin1'),
  ]);

  return {
    seal(text, context) {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv('aes-256-gcm', secrets.get(current.id) as Buffer, nonce);
      cipher.setAAD(Buffer.from(context));
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([header, nonce, cipher.getAuthTag(), ciphertext]);
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
      const idLength = bytes[1] ?? 0;
      const key = secrets.get(bytes.toString('latin1', 2, 2 + idLength));
      if (bytes[0] !== version || !key)
        throw new SealBroken('sealed under a key that is not in the key file');
      const start = 2 + idLength;
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(start, start + nonceLength), {
          authTagLength: tagLength,
        });
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
