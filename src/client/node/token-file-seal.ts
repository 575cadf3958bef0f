import { randomBytes } from 'node:crypto';
import type { Keychain } from './keychain/keychain.ts';
import { KeychainError } from './keychain/run-program.ts';
import { TokenFileError } from './private-file.ts';
import { openText, parseSealedText, type SealedText, sealingKeyBytes, sealText } from './sealed-text.ts';

/**
 * How a token file is kept: `keychain` seals it with a key of the operating system's keychain, and fails without one;
 * `plain` leaves it readable to its owner; `auto` seals it where there is a keychain. Under `auto` a file that is sealed
 * stays so, and one for which `plain` was chosen stays plain (CL-13).
 */
export type Sealing = 'keychain' | 'plain' | 'auto';

/** KeyedQueue what is kept into the text of a file, and back. */
export interface TokenFileSeal {
  /** @param text of the file @returns what is kept @throws TokenFileError where it cannot be opened */
  open(text: string): Promise<string>;
  /**
   * @param content what is kept
   * @param before text of the file that is replaced
   * @returns text of the file
   * @throws TokenFileError where it has to be sealed, and cannot be
   */
  close(content: string, before: string | undefined): Promise<string>;
  /** Why the keychain could not be used; undefined where it was not tried, or could. */
  whyPlain(): string | undefined;
}

/** Marks a plain file for which that was chosen: it is not sealed by and by. */
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
 * @param keychain where the key is
 * @param sealing how a file is kept; without it, as it was before, and a new one plain
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
