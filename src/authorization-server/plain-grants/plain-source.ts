/** What a code and a refresh token have in common, as the engine keeps them. Times are epoch seconds. */
interface Source {
  jti: string;
  iat: number;
  exp: number;
  clientId: string;
  accountId: string;
  grantId: string;
  scope: string;
  resource: string;
  /** The login it came from. */
  sessionUid?: string;
  sid?: string;
  acr?: string;
  amr?: readonly string[];
  authTime?: number;
  nonce?: string;
}

/** A code (RFC 6749 section 4.1.2, RFC 7636 section 4.4). */
export interface PlainCode extends Source {
  kind: 'AuthorizationCode';
  codeChallenge: string;
  codeChallengeMethod: string;
  redirectUri: string;
}

/** A refresh token (RFC 6749 section 1.5). */
export interface PlainRefreshToken extends Source {
  kind: 'RefreshToken';
  /** How it came about: a grant type, and from the first rotation on `refresh_token` behind it. */
  gty: string;
  rotations: number;
  /** When the first of its family was issued. */
  iiat: number;
  /** What its successors are made of; absent in tokens from before. */
  successor?: string;
}

/** What a plain request redeems. */
export type PlainSource = PlainCode | PlainRefreshToken;

const texts = ['jti', 'clientId', 'accountId', 'grantId', 'scope', 'resource'];
const times = ['iat', 'exp'];
const ofLogin = ['sessionUid', 'sid', 'acr', 'amr', 'authTime', 'nonce'];

/** What else may be there. */
const further = { AuthorizationCode: ofLogin, RefreshToken: [...ofLogin, 'successor'] } as const;

const shapes = {
  AuthorizationCode: {
    texts: [...texts, 'codeChallenge', 'codeChallengeMethod', 'redirectUri'],
    numbers: times,
  },
  RefreshToken: { texts: [...texts, 'gty'], numbers: [...times, 'rotations', 'iiat'] },
} as const;

const known = {
  AuthorizationCode: knownMembers('AuthorizationCode'),
  RefreshToken: knownMembers('RefreshToken'),
} as const;

function knownMembers(kind: PlainSource['kind']): ReadonlySet<string> {
  return new Set(['kind', ...shapes[kind].texts, ...shapes[kind].numbers, ...further[kind]]);
}

/**
 * Returns true if what was found is a code or refresh token with nothing in it but what stands here. One that was used,
 * is bound to a key (RFC 9449), ends with a browser's session, asks for claims, or has anything else that is not known
 * here is none, nor is one that stands for several resources.
 */
export function isPlainSource(
  found: Readonly<Record<string, unknown>> | undefined,
  kind: PlainSource['kind'],
): boolean {
  if (found?.kind !== kind) return false;
  const { texts, numbers } = shapes[kind];
  return (
    Object.keys(found).every((member) => known[kind].has(member)) &&
    texts.every((member) => typeof found[member] === 'string' && found[member] !== '') &&
    numbers.every((member) => typeof found[member] === 'number')
  );
}
