import { createSealedBox } from '../../../src/crypto/sealed-box.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { UpstreamLinkRow, UpstreamStore } from '../../../src/storage/upstreams.ts';
import type { LinkCheckOptions, LinkUpstream } from '../../../src/upstream/links/link-check.ts';
import {
  createLinkEvents,
  type LinkEvent,
  type LinkEvents,
} from '../../../src/upstream/links/link-events.ts';
import type { UpstreamTokens } from '../../../src/upstream/upstream.ts';
import { UpstreamFault } from '../../../src/upstream/upstream-fault.ts';
import { createVault, type Vault } from '../../../src/upstream/vault.ts';
import { account, grant, openForTest, startOfTime } from '../../storage/contract/subject.ts';
import { openNewDatabase } from '../../storage/sqlite/subject.ts';

export const down = new UpstreamFault('work', 'unavailable', 'unreachable');
export const refused = new UpstreamFault('work', 'ended', 'grant_refused');

/** An upstream whose answers a test decides. */
export interface ScriptedUpstream extends LinkUpstream {
  revocationEndsAll: boolean;
  /** What it does when it is asked; a fault is thrown. */
  answers: { refresh?: Error; check?: Error | false; revoke?: Error };
  asked: { refresh: number; check: number };
  revoked: UpstreamTokens[];
  /** How long it takes, in milliseconds. */
  delayMs: number;
  /** Life of what it gives, in seconds. */
  lifeSeconds: number;
}

/** What a bond is tested on: a database with links of `ada`, and an upstream without a network. */
export interface BondSubject {
  storage: Storage;
  store: UpstreamStore;
  upstream: ScriptedUpstream;
  clock: { now: number };
  events: LinkEvents;
  recorded: { event: LinkEvent; details: Readonly<Record<string, string>> }[];
  counts: string[];
  /** What looks are made of. */
  options: LinkCheckOptions;
  /** Queries and writes of links so far, by name. */
  queries: string[];
  vault: Vault;
  /** Links an account with a login there and a grant `grant of <id>` that hangs on it. */
  link(
    id: string,
    tokens?: Partial<UpstreamTokens>,
    more?: { accountId?: string; kept?: boolean },
  ): Promise<void>;
  row(id: string): Promise<UpstreamLinkRow>;
  /** The same over the same database, as another process sees it. */
  elsewhere(): LinkCheckOptions;
}

const sealingKey = Buffer.alloc(32, 7).toString('base64url');
const box = createSealedBox([{ id: 'k', key: sealingKey }]);
const vault = createVault(box, () => startOfTime);

/** Starts one. @param settings times of the upstream, in seconds */
export async function startBond(settings: Partial<LinkUpstream['settings']> = {}): Promise<BondSubject> {
  const storage = await openForTest(openNewDatabase);
  await storage.accounts.add(account('ada'));
  const clock = { now: startOfTime };
  const now = (): number => clock.now;
  const recorded: BondSubject['recorded'] = [];
  const counts: string[] = [];
  const queries: string[] = [];
  const upstream = scriptUpstream(settings, now);
  const events = createLinkEvents({
    record: (event, details) => void recorded.push({ event, details }),
    count: (event) => void counts.push(event),
    logger: { warn: () => undefined } as never,
  });
  const store = new Proxy(storage.upstreams, {
    get(target, name: keyof UpstreamStore) {
      return (...parameters: never[]) => {
        queries.push(name);
        return (target[name] as (...given: never[]) => unknown)(...parameters);
      };
    },
  });
  const options: LinkCheckOptions = {
    store,
    vault,
    upstreams: { find: (name) => (name === 'work' ? upstream : undefined) },
    events,
    now,
  };
  return {
    storage,
    store: storage.upstreams,
    upstream,
    clock,
    events,
    recorded,
    counts,
    queries,
    options,
    vault,
    async link(id, tokens = {}, { accountId = 'ada', kept } = {}) {
      if (accountId !== 'ada') await storage.accounts.add(account(accountId));
      const held = { accessToken: `access of ${id}`, scopes: [], ...tokens };
      const result = await storage.artifacts.commit([
        {
          type: 'putUpstreamLink',
          id,
          accountId,
          upstream: 'work',
          issuer: 'https://work.example',
          subject: `subject of ${accountId}`,
          profile: box.seal('{}', `UpstreamProfile:${id}`),
          tokens: vault.sealTokens(id, held),
          ...(held.expiresAt === undefined ? {} : { expiresAt: held.expiresAt }),
          ...(kept === undefined ? {} : { kept }),
          provedAt: now(),
          at: now(),
        },
        { type: 'addUpstreamSession', id: `session of ${id}`, linkId: id, sid: `sid of ${id}`, at: now() },
        { ...grant(`grant of ${id}`, accountId), expiresAt: now() + 1e6 },
        { type: 'bindGrant', id: `grant of ${id}`, upstreamSessionId: `session of ${id}` },
      ]);
      if (!result.committed) throw new Error(JSON.stringify(result.conflict));
    },
    async row(id) {
      const found = await storage.upstreams.find(id);
      if (!found) throw new Error(`there is no link ${id}`);
      return found;
    },
    elsewhere: () => ({ ...options }),
  };
}

function scriptUpstream(settings: Partial<LinkUpstream['settings']>, now: () => number): ScriptedUpstream {
  const wait = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, upstream.delayMs));
  const upstream: ScriptedUpstream = {
    name: 'work',
    revocationEndsAll: false,
    settings: { checkSeconds: 300, graceSeconds: 3600, unverifiableSeconds: 28_800, ...settings },
    answers: {},
    asked: { refresh: 0, check: 0 },
    revoked: [],
    delayMs: 0,
    lifeSeconds: 3600,
    async refresh(tokens) {
      const count = ++upstream.asked.refresh;
      await wait();
      if (upstream.answers.refresh) throw upstream.answers.refresh;
      return {
        ...tokens,
        accessToken: `${tokens.accessToken}+${count}`,
        expiresAt: now() + upstream.lifeSeconds,
      };
    },
    async check() {
      upstream.asked.check++;
      await wait();
      if (upstream.answers.check instanceof Error) throw upstream.answers.check;
      return upstream.answers.check !== false;
    },
    async revoke(tokens) {
      await wait();
      if (upstream.answers.revoke) throw upstream.answers.revoke;
      upstream.revoked.push(tokens);
    },
  };
  return upstream;
}
