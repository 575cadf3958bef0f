import type { SealedBox } from '../crypto/sealed-box.ts';
import { hashSecret } from '../crypto/secret.ts';
import { parseScope } from '../oauth/scope.ts';
import type { ArtifactRow, ArtifactStore } from '../storage/artifacts.ts';
import { payloadContext } from './engine/adapter.ts';

/** An access token as this installation issued it. */
export interface IssuedAccessToken {
  clientId: string;
  /** The account. */
  subject: string;
  scopes: readonly string[];
  audience: string;
  /** Epoch seconds. */
  issuedAt: number;
  /** Epoch seconds. */
  expiresAt: number;
  grantId: string;
  /** The name under which it is stored; never the token. */
  tokenId: string;
}

/** Access tokens, for the resource server of the same process. */
export interface IssuedAccessTokens {
  /** Gives what was issued under this token value, expired or not; undefined where there is no such token. */
  find(token: string): Promise<IssuedAccessToken | undefined>;
  /** Gives those of these tokens that were not revoked, expired or not, by the names under which they are stored. */
  standing(tokenIds: readonly string[]): Promise<readonly string[]>;
  /** Gives a mark: as long as it stays the same, no token was revoked, by whichever process. */
  revocationMark(): Promise<string>;
}

const kind = 'AccessToken';

/** How many opened tokens are kept, about 1 KB each. */
const maxOpened = 10_000;

/**
 * Finds access tokens for the resource server of the same process. A revoked one is gone with its row, so it is
 * refused from the moment the revocation is durable, in every process on the database (F3, T-103): the row is asked
 * for each time, and only what was unsealed from it is kept, for as long as the row is the same.
 */
export function createAccessTokenSource(artifacts: ArtifactStore, box: SealedBox): IssuedAccessTokens {
  const opened = new Map<string, { revision: number; token: IssuedAccessToken }>();

  function open(row: ArtifactRow): IssuedAccessToken {
    const payload = JSON.parse(box.open(row.payload, payloadContext(kind, row.id)));
    return {
      clientId: String(payload.clientId),
      subject: String(payload.accountId),
      scopes: parseScope(payload.scope),
      audience: String(payload.aud),
      issuedAt: Number(payload.iat),
      expiresAt: Number(payload.exp),
      grantId: String(payload.grantId),
      tokenId: row.id,
    };
  }

  function keep(id: string, revision: number, token: IssuedAccessToken): void {
    const [oldest] = opened.size >= maxOpened ? opened.keys() : [];
    if (oldest !== undefined) opened.delete(oldest);
    opened.set(id, { revision, token });
  }

  return {
    async find(token) {
      const id = hashSecret(kind, token);
      const known = opened.get(id);
      if (known && (await artifacts.findRevision(kind, id)) === known.revision) return known.token;
      opened.delete(id);
      const row = await artifacts.find(kind, id);
      if (!row) return undefined;
      const found = open(row);
      keep(id, row.revision, found);
      return found;
    },
    standing: (tokenIds) => artifacts.filterPresent(kind, tokenIds),
    revocationMark: () => artifacts.removalMark(kind),
  };
}
