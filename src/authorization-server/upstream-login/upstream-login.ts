import type Provider from 'oidc-provider';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Upstreams } from '../../upstream/upstream.ts';
import type { Vault } from '../../upstream/vault.ts';
import type { OwnSessions } from '../account/own-session.ts';
import type { AuditLog } from '../audit.ts';
import type { Step } from '../endpoints/endpoint-guards.ts';
import type { AllowedBefore } from '../interactions/make-grant.ts';
import type { FindAbandonedGrants } from '../interactions/registered-anew.ts';
import type { ResourceRegistry } from '../resources.ts';
import { believedAbout } from './account-of-login.ts';
import { createAccountSteps } from './account-steps.ts';
import { createAuthorizationSteps } from './authorization-steps.ts';
import { type BeginUpstream, createBeginUpstream, createUpstreamStates } from './begin-upstream.ts';
import { createConsentThrough, type FindConsentThrough } from './consent-through.ts';
import { createUpstreamCallback } from './upstream-callback.ts';

/** Parts of the logins through upstreams. */
export interface UpstreamLoginOptions {
  /** Issuer identifier; its scheme decides about cookies. */
  issuer: string;
  upstreams: Upstreams;
  vault: Vault;
  provider: Provider;
  storage: Storage;
  box: SealedBox;
  resources: ResourceRegistry;
  identityScopes: readonly string[];
  allowedBefore: AllowedBefore;
  findAbandonedGrants: FindAbandonedGrants;
  /** The login of the browser that asks. */
  sessions: OwnSessions;
  /** True if servers at other ports of the host get our cookies, and can set them. */
  portsShareCookies: boolean;
  audit: AuditLog;
  logger: Logger;
  /** Absolute URL of an interaction's page. */
  pageUrl: (uid: string) => string;
  /** Epoch seconds. */
  now: () => number;
}

/** Logins through upstreams: how they begin, how they end, and what a consent has to do with them. */
export interface UpstreamLogin {
  beginUpstream: BeginUpstream;
  /** Serves the callback of an upstream, by its name. */
  callback: (name: string) => Step;
  consentThrough: FindConsentThrough;
}

/** Puts logins through upstreams together. */
export function createUpstreamLogin(options: UpstreamLoginOptions): UpstreamLogin {
  const { issuer, upstreams, vault, storage, box, audit, logger, now } = options;
  const { accounts, artifacts, identities, upstreams: links } = storage;
  const secure = issuer.startsWith('https:');
  const states = createUpstreamStates({ artifacts, box, secure, now });
  const stores = { accounts, identities, links, isBelieved: believedAbout(upstreams) };
  const authorization = createAuthorizationSteps({ ...options, ...stores });
  const accountSteps = createAccountSteps({ ...options, ...stores, accountUrl: `${issuer}/account` });
  return {
    beginUpstream: createBeginUpstream(states, audit),
    callback: createUpstreamCallback({
      upstreams,
      states,
      steps: { authorization, ...accountSteps },
      artifacts,
      identities,
      audit,
      logger,
      box,
      now,
    }),
    consentThrough: createConsentThrough({ upstreams, links, vault }),
  };
}
