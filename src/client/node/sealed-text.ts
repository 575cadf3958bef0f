import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';

const kinds = ['secret-service', 'macos-keychain', 'windows-dpapi'] as const;

const sealedText = z.object({
  version: z.literal(2),
  /** Which keychain has the key. */
  keychain: z.enum(kinds),
  /** What leads to the key there. */
  key: z.string(),
  nonce: z.string(),
  sealed: z.string(),
});

/** A text that only the key of a keychain opens. */
export type SealedText = z.infer<typeof sealedText>;

/** Length of a key, in bytes. */
export const sealingKeyBytes = 32;

const tagBytes = 16;
const nonceBytes = 12;

/** What cannot be changed without the key, though it is not secret. */
function boundTo({ version, keychain, key }: Omit<SealedText, 'nonce' | 'sealed'>): Buffer {
  return Buffer.from(JSON.stringify(['mcp-gatehouse tokens', version, keychain, key]));
}

/**
 * Seals a text with AES-256-GCM.
 * @param text what is sealed
 * @param key 32 bytes
 * @param where which keychain has the key, and what leads to it there
 * @see NIST SP 800-38D
 */
export function sealText(
  text: string,
  key: Buffer,
  where: { keychain: SealedText['keychain']; key: string },
): SealedText {
  const head = { version: 2 as const, ...where };
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(head));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return { ...head, nonce: nonce.toString('base64url'), sealed: sealed.toString('base64url') };
}

/**
 * Opens a sealed text.
 * @returns the text; undefined where it was changed, or sealed with another key
 */
export function openText(box: SealedText, key: Buffer): string | undefined {
  try {
    const sealed = Buffer.from(box.sealed, 'base64url');
    const nonce = Buffer.from(box.nonce, 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
      .setAAD(boundTo(box))
      .setAuthTag(sealed.subarray(-tagBytes));
    return Buffer.concat([decipher.update(sealed.subarray(0, -tagBytes)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/**
 * Reads the text of a sealed file.
 * @returns the sealed text; undefined for anything else, such as a file that is not sealed
 */
export function parseSealedText(text: string): SealedText | undefined {
  try {
    return sealedText.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
