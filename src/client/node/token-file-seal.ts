import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Keychain, KeychainError } from './keychain.ts';
import { TokenFileError } from './private-file.ts';

/**
 * The storage of a token file: `keychain` seals it with a key of the operating system's keychain, and fails
 * without one; `plain` leaves it readable to its owner; `auto` seals it if there is a keychain. With `auto` a
 * sealed file stays sealed, and a file for which `plain` was chosen stays plain (CL-13).
 */
export type Sealing = 'keychain' | 'plain' | 'auto';

/** Seals and opens the content of a token file. */
export interface TokenFileSeal {
  /**
   * Opens the text of a file.
   * @throws TokenFileError if it cannot be opened
   */
  open(text: string): Promise<string>;
  /**
   * Seals the content of a file.
   * @param content the content
   * @param before text of the file that is replaced
   * @returns text of the file
   * @throws TokenFileError if it has to be sealed, but cannot be
   */
  close(content: string, before: string | undefined): Promise<string>;
  /** The reason why the keychain could not be used; undefined if it was not tried or could be used. */
  whyPlain(): string | undefined;
}

/** Marks a file for which `plain` was chosen: it is never sealed automatically. */
const chosen = { sealing: 'plain' } as const;

function isChosenPlain(text: string | undefined): boolean {
  try {
    const { sealing } = Object(JSON.parse(text ?? '')) as Record<string, unknown>;
    return sealing === chosen.sealing;
  } catch {
    return false;
  }
}

const markChosen = (content: string): string =>
  `${JSON.stringify({ ...chosen, ...(JSON.parse(content) as object) }, null, 2)}\n`;

/**
 * Opens and seals the text of one token file.
 * @param file its path, for messages
 * @param keychain the keychain with the key
 * @param sealing without it, an existing file stays as it is, and a new one is plain
 */
export function createTokenFileSeal(file: string, keychain: Keychain, sealing?: Sealing): TokenFileSeal {
  const keys = new Map<string, Buffer>();
  let failure: KeychainError | undefined;

  const keyOf = async (box: SealedText): Promise<Buffer> => {
    const kept = keys.get(box.key);
    if (kept !== undefined) return kept;
    if (box.keychain !== keychain.kind)
      throw new TokenFileError(
        `${file} is sealed with a key of another system (${box.keychain}). Move it away, then log in again.`,
      );
    const key = await keychain.find(box.key).catch((error: unknown) => {
      if (!(error instanceof KeychainError)) throw error;
      throw new TokenFileError(
        `${file} is sealed with a key in ${keychain.name}, which cannot be reached: ${error.message}. Unlock it, or move the file away and log in again with --store plain.`,
      );
    });
    if (key?.length !== sealingKeyBytes)
      throw new TokenFileError(
        `${file} is sealed with a key that ${keychain.name} no longer has. Move it away, then log in again.`,
      );
    keys.set(box.key, key);
    return key;
  };

  const newKey = async (): Promise<string> => {
    const key = randomBytes(sealingKeyBytes);
    const reference = await keychain.keep(key);
    if (!(await keychain.find(reference))?.equals(key))
      throw new KeychainError(`${keychain.name} does not give back what it was given`);
    keys.set(reference, key);
    return reference;
  };

  const seal = async (content: string, box: SealedText | undefined): Promise<string> => {
    const reference = box?.key ?? (await newKey());
    const key = keys.get(reference) ?? (box && (await keyOf(box)));
    if (key === undefined) throw new TokenFileError(`${file} cannot be sealed.`);
    const sealed = sealText(content, key, { keychain: keychain.kind, key: reference });
    return `${JSON.stringify(sealed, null, 2)}\n`;
  };

  return {
    open: async (text) => {
      const box = parseSealedText(text);
      if (box === undefined) return text;
      const opened = openText(box, await keyOf(box));
      if (opened === undefined)
        throw new TokenFileError(`${file} is damaged. Move it away, then log in again.`);
      return opened;
    },
    close: async (content, before) => {
      const box = before === undefined ? undefined : parseSealedText(before);
      if (sealing === 'plain' || (sealing !== 'keychain' && isChosenPlain(before)))
        return markChosen(content);
      if (box === undefined && (sealing === undefined || failure !== undefined)) return content;
      try {
        return await seal(content, box);
      } catch (error) {
        if (!(error instanceof KeychainError)) throw error;
        if (sealing !== 'auto')
          throw new TokenFileError(
            `Logins cannot be sealed, because ${error.message}. To keep them in plain text, readable by you only: --store plain or GATEHOUSE_STORE=plain.`,
          );
        failure = error;
        return content;
      }
    },
    whyPlain: () => failure?.message,
  };
}

const kinds = ['secret-service', 'macos-keychain', 'windows-dpapi'] as const;

const sealedText = z.object({
  version: z.literal(2),
  /** The keychain with the key. */
  keychain: z.enum(kinds),
  /** The reference of the key there. */
  key: z.string(),
  nonce: z.string(),
  sealed: z.string(),
});

/** A text sealed with a key of a keychain. */
export type SealedText = z.infer<typeof sealedText>;

/** Length of a key, in bytes. */
const sealingKeyBytes = 32;

const tagBytes = 16;
const nonceBytes = 12;

/** Returns the public part of a sealed text, which is authenticated with it. */
function boundTo({ version, keychain, key }: Omit<SealedText, 'nonce' | 'sealed'>): Buffer {
  return Buffer.from(JSON.stringify(['mcp-gatehouse tokens', version, keychain, key]));
}

/**
 * Seals a text with AES-256-GCM.
 * @param text the text
 * @param key 32 bytes
 * @param location the keychain with the key, and the reference of the key there
 * @see NIST SP 800-38D
 */
export function sealText(
  text: string,
  key: Buffer,
  location: { keychain: SealedText['keychain']; key: string },
): SealedText {
  const head = { version: 2 as const, ...location };
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(head));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return { ...head, nonce: nonce.toString('base64url'), sealed: sealed.toString('base64url') };
}

/**
 * Opens a sealed text.
 * @returns undefined if it was changed, or sealed with another key
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
 * Parses the text of a sealed file.
 * @returns undefined for anything else, such as a plain file
 */
export function parseSealedText(text: string): SealedText | undefined {
  try {
    return sealedText.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
