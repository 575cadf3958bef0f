import type { Context } from 'koa';
import compose from 'koa-compose';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import type { AuditLog } from '../audit.ts';
import { deviceGrantType } from '../client-metadata.ts';
import type { EndpointLimit } from '../endpoint-limits/endpoint-limit.ts';
import type { Endpoint, EndpointFamily } from '../endpoints/endpoint.ts';
import { neverStore, refuseOpaqueOrigin, type Step } from '../endpoints/endpoint-guards.ts';
import { answerWithOAuthError } from '../endpoints/oauth-answer.ts';
import { useNothingUp } from '../endpoints/repeated-answers.ts';
import type { FlowLogins } from '../engine/flow-logins.ts';
import { takeOwnForm } from '../interactions/own-form.ts';
import type { Limit } from '../limits.ts';
import {
  createDeviceClaim,
  createDeviceResumption,
  keepLinkedCode,
  limitWrongCodes,
  showDeviceNote,
} from './device-pages.ts';
import { pollIntervalSeconds } from './device-polling.ts';

/** Paths of the device flow below the issuer: short, for people type the first. */
export const devicePaths = {
  code: '/device',
  done: '/device/done',
  denied: '/device/denied',
  authorization: '/device/auth',
} as const;

/** What the endpoints are made of. */
export interface DeviceEndpointOptions {
  artifacts: ArtifactStore;
  audit: AuditLog;
  /** Our public origin. */
  origin: string;
  /** Wrong codes of an address or a browser. */
  wrongCodes: Limit;
  /** What names the browser of a request. */
  sessionOf: (ctx: Context) => string | undefined;
  /** In front of every endpoint that takes an authorization request as a form. */
  guards: readonly Step[];
  /** In front of authorization requests, of what begins a login, and of the other pages. */
  limits: { requests: Endpoint['limits'] } & Record<'beginnings' | 'pages', EndpointLimit>;
  inOneCommit: Step;
  flowLogins: FlowLogins;
  /** In front of where the engine takes up an interaction. */
  requirePass: Step;
  /** Has the same browser get the same redirect again. */
  resumeOnce: Step;
  /** The engine's endpoint at a path. */
  at: (path: string) => Step;
}

/**
 * Puts right what the engine tells a device: how long to wait between polls, and that a client is not registered for
 * this grant (RFC 8628 section 3.2; RFC 6749 section 5.2).
 */
export const completeDeviceAnswer: Step = async (ctx, next) => {
  await next();
  const body = ctx.body as { error_description?: string };
  if (ctx.status === 200) Object.assign(body, { interval: pollIntervalSeconds });
  else if (body.error_description?.endsWith('is not allowed for this client'))
    answerWithOAuthError(ctx, 400, 'unauthorized_client', body.error_description);
};

/**
 * Leaves the device flow out of our metadata, where it is switched off. The engine keeps the grant type: clients that
 * have registered it go on to work otherwise.
 */
export const withdrawDeviceFlow: Step = async (ctx, next) => {
  await next();
  const metadata = ctx.body as { device_authorization_endpoint?: string; grant_types_supported?: string[] };
  if (ctx.status !== 200) return;
  delete metadata.device_authorization_endpoint;
  metadata.grant_types_supported = metadata.grant_types_supported?.filter((type) => type !== deviceGrantType);
};

/** Goes on with the steps of a method; a HEAD is a GET. */
function byMethod({ GET, POST }: Record<'GET' | 'POST', readonly Step[]>): Step {
  const [get, post] = [compose([...GET]), compose([...POST])];
  return (ctx, next) => (ctx.method === 'POST' ? post : get)(ctx, next);
}

/** The endpoints of the device flow, with every check of them from first to last (RFC 8628; T-016, T-029). */
export function createDeviceEndpoints(options: DeviceEndpointOptions): {
  endpoints: Readonly<Record<string, Endpoint>>;
  /** Where the engine takes a device up again, after pages of ours. */
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
        useNothingUp,
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
