import type { Context } from 'koa';
import compose from 'koa-compose';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret } from '../../crypto/secret.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import type { AuditLog } from '../audit.ts';
import {
  answerWithOAuthError,
  type Endpoint,
  type EndpointFamily,
  neverStore,
  refuseOpaqueOrigin,
  type Step,
} from '../endpoints/endpoint-guards.ts';
import { ignoreHeadAndPrefetch } from '../endpoints/repeated-answers.ts';
import type { FlowLogins } from '../engine/flow-logins.ts';
import { grantKey, openPayload } from '../engine/stored-rows.ts';
import { currentWriteSet } from '../engine/write-set.ts';
import { takeOwnForm } from '../interactions/form.ts';
import { createLimiter, type EndpointLimit, type GuessLimiter } from '../limits.ts';
import {
  createDeviceClaim,
  createDeviceResumption,
  keepLinkedCode,
  limitWrongCodes,
  showDeviceNote,
} from './device-pages.ts';

/** Paths of the device flow below the issuer: short, for people type the first. */
export const devicePaths = {
  code: '/device',
  done: '/device/done',
  denied: '/device/denied',
  authorization: '/device/auth',
} as const;

/** Parts of the endpoints. */
export interface DeviceEndpointOptions {
  artifacts: ArtifactStore;
  audit: AuditLog;
  /** Our public origin. */
  origin: string;
  /** Wrong codes of an address or a browser. */
  wrongCodes: GuessLimiter;
  /** Identifies the browser of a request. */
  sessionOf: (ctx: Context) => string | undefined;
  /** In front of every endpoint that takes an authorization request as a form. */
  guards: readonly Step[];
  /** In front of authorization requests, of what begins a login, and of the other pages. */
  limits: { requests: Endpoint['limits'] } & Record<'beginnings' | 'pages', EndpointLimit>;
  inOneCommit: Step;
  flowLogins: FlowLogins;
  /** Runs before the engine resumes an interaction. */
  requirePass: Step;
  /** Sends the same redirect again if the same browser repeats its request. */
  resumeOnce: Step;
  /** The engine's endpoint at a path. */
  at: (path: string) => Step;
}

/**
 * Puts right what the engine tells a device: how long to wait between polls, and that a client is not registered for
 * this grant (RFC 8628 section 3.2; RFC 6749 section 5.2).
 */
const completeDeviceAnswer: Step = async (ctx, next) => {
  await next();
  const body = ctx.body as { error_description?: string };
  if (ctx.status === 200) Object.assign(body, { interval: pollIntervalSeconds });
  else if (body.error_description?.endsWith('is not allowed for this client'))
    answerWithOAuthError(ctx, 400, 'unauthorized_client', body.error_description);
};

/** Goes on with the steps of a method; a HEAD is a GET. */
function byMethod({ GET, POST }: Record<'GET' | 'POST', readonly Step[]>): Step {
  const [get, post] = [compose([...GET]), compose([...POST])];
  return (ctx, next) => (ctx.method === 'POST' ? post : get)(ctx, next);
}

/** The endpoints of the device flow, with every check of them from first to last (RFC 8628; T-016, T-029). */
export function createDeviceEndpoints(options: DeviceEndpointOptions): {
  endpoints: Readonly<Record<string, Endpoint>>;
  /** Endpoints at which the engine resumes a device request after Gatehouse's pages. */
  resumption: EndpointFamily;
} {
  const { artifacts, audit, origin, wrongCodes, sessionOf, guards, limits, inOneCommit, at } = options;
  const { flowLogins, requirePass, resumeOnce } = options;
  const resumption = createDeviceResumption(artifacts);
  const code = {
    GET: [
      limits.beginnings.step,
      keepLinkedCode,
      flowLogins.ignoreEarlier,
      inOneCommit,
      at(devicePaths.code),
    ],
    POST: [
      takeOwnForm(origin),
      flowLogins.ignoreEarlier,
      limitWrongCodes(wrongCodes, sessionOf, audit),
      createDeviceClaim(artifacts, audit),
      at(devicePaths.code),
    ],
  };
  return {
    endpoints: {
      [devicePaths.authorization]: {
        methods: ['POST'],
        limits: limits.requests,
        steps: [
          refuseOpaqueOrigin,
          neverStore,
          completeDeviceAnswer,
          ...guards,
          at(devicePaths.authorization),
        ],
      },
      [devicePaths.code]: { methods: ['GET', 'POST'], limits: [limits.pages], steps: [byMethod(code)] },
      [devicePaths.done]: { methods: ['GET'], limits: [limits.pages], steps: [showDeviceNote('done')] },
      [devicePaths.denied]: { methods: ['GET'], limits: [limits.pages], steps: [showDeviceNote('denied')] },
    },
    resumption: {
      path: '/device/<uid>',
      pattern: /^\/device\/[\w-]{20,}$/,
      methods: ['GET'],
      limits: [limits.pages],
      steps: (path) => [
        ignoreHeadAndPrefetch,
        neverStore,
        resumeOnce,
        requirePass,
        resumption,
        flowLogins.endWithAnswer,
        at(path),
      ],
    },
  };
}

/** Seconds between two polls of a device (RFC 8628 section 3.2). */
const pollIntervalSeconds = 5;

/** Seconds that a poll may arrive early: networks and timers are not exact. */
const leewaySeconds = 1;

const kind = 'DeviceCode';

/** Options of the polling step. */
export interface DevicePollingOptions {
  artifacts: ArtifactStore;
  box: SealedBox;
}

/**
 * Creates the step around the engine's token endpoint for requests of devices. It keeps them to their pace
 * (`slow_down`), and ends the grant of a device code that its own client sends again after it has expired, when the
 * engine no longer looks whether it was used (RFC 8628 section 3.5; T-029). It counts in memory: a poll writes nothing.
 */
export function createDevicePolling({ artifacts, box }: DevicePollingOptions): Step {
  const polls = createLimiter({ times: 1, windowSeconds: pollIntervalSeconds - leewaySeconds });

  async function endReplayed(id: string, clientId: string | undefined): Promise<void> {
    const row = await artifacts.find(kind, id);
    if (row?.consumedAt === undefined) return;
    const issued = openPayload<Record<string, string>>(box, kind, row);
    if (issued.clientId !== clientId || issued.grantId === undefined) return;
    currentWriteSet()?.add({ type: 'removeGrant', id: grantKey(issued.grantId) });
  }

  return async (ctx, next) => {
    await next();
    const { params, client } = (ctx as Partial<KoaContextWithOIDC>).oidc ?? {};
    if (ctx.status !== 400) return;
    const { error } = ctx.body as { error?: string };
    const id = hashSecret(kind, String(params?.device_code ?? ''));
    if (error === 'expired_token') await endReplayed(id, client?.clientId);
    if (error !== 'authorization_pending' || (await polls.take(id)) === 0) return;
    const description = `wait ${pollIntervalSeconds} seconds longer between two polls`;
    answerWithOAuthError(ctx, 400, 'slow_down', description);
  };
}
