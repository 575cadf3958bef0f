import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto';
import { takeRandom } from './secret.ts';

/** A symmetric key with the id that is stored in front of everything it sealed. */
export interface SealingKey {
  id: string;
  /** 32 bytes, base64url. */
  key: string;
}

/** Encrypts text so that it can only be decrypted unchanged and for the same context. */
export interface SealedBox {
  /** @param context identifies the text and its owner; `open` needs the same */
  seal(text: string, context: string): Buffer;
  /** @throws SealBroken if the key is missing, the bytes were changed or the context differs */
  open(sealed: Uint8Array, context: string): string;
}

/** The sealed data cannot be opened. */
export class SealBroken extends Error {
  override name = 'SealBroken';
}

const version = 1;
const nonceLength = 12;
const tagLength = 16;

/** Returns the id of the key that sealed the data; undefined if it is not sealed. */
export function sealingKeyOf(sealed: Uint8Array): string | undefined {
  const idLength = sealed[1] ?? 0;
  if (sealed[0] !== version || sealed.length <= 2 + idLength) return undefined;
  return Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength).toString('latin1', 2, 2 + idLength);
}

/**
 * Creates a box over AES-256-GCM (NIST SP 800-38D) with a random nonce per message. Layout: version, length of key id,
 * key id, nonce, tag, ciphertext.
 * @param keys the first one seals, all open; read for each message, so the list may change
 */
export function createSealedBox(keys: readonly SealingKey[]): SealedBox {
  if (keys.length === 0) throw new TypeError('a sealed box needs at least one key');
  // Key objects, because Node 24 takes three times as long with bytes, which it converts for each message.
  const prepared = new WeakMap<SealingKey, { secret: KeyObject; header: Buffer }>();
  const prepare = (key: SealingKey): { secret: KeyObject; header: Buffer } => {
    const known = prepared.get(key);
    if (known) return known;
    const header = Buffer.from(`${String.fromCharCode(version, key.id.length)}${key.id}`, 'latin1');
    const made = { secret: createSecretKey(key.key, 'base64url'), header };
    prepared.set(key, made);
    return made;
  };

  return {
    seal(text, context) {
      const { secret, header } = prepare(keys[0] as SealingKey);
      const nonce = takeRandom(nonceLength);
      const cipher = createCipheriv('aes-256-gcm', secret, nonce);
      cipher.setAAD(Buffer.from(context));
      // A buffer: Node is slower with a string.
      const ciphertext = cipher.update(Buffer.from(text));
      // GCM buffers nothing: this only computes the tag.
      cipher.final();
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
          prepare(key).secret,
          bytes.subarray(start, start + nonceLength),
          { authTagLength: tagLength },
        );
        decipher.setAAD(Buffer.from(context));
        decipher.setAuthTag(bytes.subarray(start + nonceLength, start + nonceLength + tagLength));
        const opened = decipher.update(bytes.subarray(start + nonceLength + tagLength));
        // The text must not be used before the tag is verified.
        decipher.final();
        return opened.toString('utf8');
      } catch (cause) {
        throw new SealBroken('sealed data was changed or belongs elsewhere', { cause });
      }
    },
  };
}

/** Seals text as base64url text. */
export interface TextSeal {
  /** @param context identifies the text and its owner; `open` needs the same */
  seal(text: string, context: string): string;
  /**
   * @returns undefined if it was not sealed here, was changed, was sealed for another context, or is encoded
   * differently
   */
  open(sealed: string, context: string): string | undefined;
}

/** Creates a text seal over a sealed box, for text that others pass on. */
export function createTextSeal(box: SealedBox): TextSeal {
  return {
    seal: (text, context) => box.seal(text, context).toString('base64url'),
    open(sealed, context) {
      const bytes = Buffer.from(sealed, 'base64url');
      // Node.js ignores invalid base64url and spare bits: the same bytes would have many spellings.
      if (bytes.toString('base64url') !== sealed) return undefined;
      try {
        return box.open(bytes, context);
      } catch (error) {
        if (error instanceof SealBroken) return undefined;
        throw error;
      }
    },
  };
}
