import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret, randomSecret } from '../../crypto/secret.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import { payloadContext } from '../engine/stored-names.ts';
import { currentWriteSet } from '../engine/write-set.ts';

/** How long a person may take to unlock their passkey. */
const challengeSeconds = 600;

const kind = 'PasskeyChallenge';

/** What a passkey signs: made by us for one page in one browser, and taken once. */
export interface Challenges {
  /** Makes the challenge of a page, in the place of the one before. @param binding the page and the browser */
  issue(binding: string): string;
  /** Takes the challenge of a page; undefined where there is none. Of many who take it at once one is committed. */
  take(binding: string): Promise<string | undefined>;
}

/**
 * Creates the challenges (Web Authentication section 13.4.3). They are written and taken in the commit of the request,
 * which fails where another request took the same one.
 * @param now epoch seconds
 */
export function createChallenges(artifacts: ArtifactStore, box: SealedBox, now: () => number): Challenges {
  const writes = () => {
    const set = currentWriteSet();
    if (!set) throw new Error('a challenge belongs to a request');
    return set;
  };
  return {
    issue(binding) {
      const id = hashSecret(kind, binding);
      const challenge = randomSecret();
      const payload = box.seal(challenge, payloadContext(kind, id));
      writes().put({ type: 'put', kind, id, payload, expiresAt: now() + challengeSeconds }, 'none');
      return challenge;
    },
    async take(binding) {
      const id = hashSecret(kind, binding);
      const row = await artifacts.find(kind, id);
      if (!row) return undefined;
      writes().add({ type: 'remove', kind, id, mustExist: true });
      return row.expiresAt > now() ? box.open(row.payload, payloadContext(kind, id)) : undefined;
    },
  };
}
