import type Provider from 'oidc-provider';
import { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { answerWithErrorPage } from '../endpoints/error-page.ts';
import { showPage } from '../interactions/page.ts';
import type { ResourceRegistry } from '../resources.ts';
import { textsFor } from '../texts/page-texts.ts';
import type { Texts } from '../texts/texts.ts';
import { renderDeviceCode, renderDeviceConfirm } from '../views/device.ts';
import type { DeviceRequest } from '../views/redirect-target.ts';

type DeviceFlow = NonNullable<NonNullable<Configuration['features']>['deviceFlow']>;

/** Absolute URLs of the pages of the device flow. */
export interface DevicePages {
  /** For the code; also takes its form. */
  code: string;
  /** After an approval. */
  done: string;
  /** After a refusal. */
  denied: string;
}

/** Texts for a rejected code, by the engine's name of the reason. */
const problems: Readonly<Record<string, keyof Texts['device']['problems']>> = {
  NoCodeError: 'none',
  NotFoundError: 'unknown',
  ExpiredError: 'expired',
  AlreadyUsedError: 'used',
};

/** The token of the engine that ties a form to the session of the browser. */
function formToken(ctx: KoaContextWithOIDC): string {
  return String(ctx.oidc.session?.state?.secret ?? '');
}

/**
 * Keeps the engine from writing back a session it has not written before, which it cannot do: it readies each page it
 * shows again for a form, and a browser without a session gets no form.
 */
function leaveNewSession(ctx: KoaContextWithOIDC): void {
  const session = ctx.oidc.session as { exp?: number; touched?: boolean } | undefined;
  if (session && typeof session.exp !== 'number') session.touched = false;
}

/**
 * Builds the engine's device flow with pages of Gatehouse (RFC 8628). The pages compare codes, name the app, the
 * address and the time, and warn about requests of others (sections 5.4 and 5.5). The engine binds a code to the
 * browser that confirmed it, and continues with login and consent.
 * @param pages their URLs
 * @param now epoch seconds
 */
export function buildDeviceFlow(
  pages: DevicePages,
  resources: ResourceRegistry,
  now: () => number,
): DeviceFlow {
  const refuse = (ctx: KoaContextWithOIDC, error: Error & { statusCode?: number; error?: string }): void => {
    leaveNewSession(ctx);
    const explanation = error.name === 'InvalidClient' ? undefined : 'expired';
    const status = Math.max(400, error.statusCode ?? 500);
    const code = error.error ?? (status < 500 ? 'invalid_request' : 'server_error');
    answerWithErrorPage(ctx, status, { code }, explanation && status < 500 ? { explanation } : {});
  };

  return {
    enabled: true,
    charset: 'base-20',
    mask: userCodeMask,
    deviceInfo: noteDevice,

    userCodeInputSource(ctx, _form, _out, error) {
      if (error?.name === 'AbortedError') {
        leaveNewSession(ctx);
        ctx.state.deviceDenied = true;
        ctx.redirect(pages.denied);
        ctx.status = 303;
        return;
      }
      const problem = error && problems[error.name];
      if (error && (problem === undefined || ctx.oidc.route !== 'code_verification'))
        return refuse(ctx, error);
      ctx.state.codeMissed = problem !== undefined && problem !== 'none';
      const texts = textsFor(ctx);
      const { linkedCode } = ctx.state as { linkedCode?: string };
      const typedCode = ctx.oidc.params?.user_code as string | undefined;
      if (problem) ctx.status = 400;
      showPage(
        ctx,
        renderDeviceCode(texts, {
          action: pages.code,
          csrf: formToken(ctx),
          ...(linkedCode ? { linkedCode } : undefined),
          ...(typedCode ? { typedCode } : undefined),
          ...(problem ? { problem: texts.device.problems[problem] } : undefined),
        }),
      );
    },

    userCodeConfirmSource(ctx, _form, client) {
      const code = ctx.oidc.deviceCode;
      if (!code) throw new TypeError('the engine confirms a device without its code');
      const { resource } = code.params ?? {};
      const [first] = [resource].flat();
      showPage(
        ctx,
        renderDeviceConfirm(textsFor(ctx), {
          action: pages.code,
          csrf: formToken(ctx),
          client: {
            name: client.clientName ?? '',
            clientId: client.clientId,
            ...(client.clientUri ? { uri: client.clientUri } : undefined),
          },
          resourceName: (resources.find(String(first ?? '')) ?? resources.default).name,
          device: describeDevice(code, now()),
        }),
      );
    },

    successSource(ctx) {
      ctx.redirect(pages.done);
      ctx.status = 303;
    },
  };
}

/** Eight letters of an alphabet without vowels and look-alikes: 34 bits, read and typed in two halves. */
export const userCodeMask = '****-****';

type DeviceCode = NonNullable<Awaited<ReturnType<Provider['DeviceCode']['findByUserCode']>>>;

/** Stores the address of the requesting device with the request, for the user to compare (RFC 8628 section 5.4). */
function noteDevice(ctx: KoaContextWithOIDC): Record<string, unknown> {
  return { address: ctx.state.clientAddress };
}

/**
 * Describes the request of a device for the pages.
 * @param code as the engine keeps it
 * @param nowSeconds epoch seconds
 */
export function describeDevice(code: DeviceCode, nowSeconds: number): DeviceRequest {
  const { userCode, deviceInfo, iat } = code;
  return {
    userCode: `${userCode.slice(0, 4)}-${userCode.slice(4)}`,
    address: String(deviceInfo?.address ?? ''),
    askedSecondsAgo: Math.max(0, nowSeconds - iat),
  };
}

/**
 * Loads the request of the device that an interaction is about.
 * @param deviceCode as the interaction names it
 * @param nowSeconds epoch seconds
 * @throws errors.SessionNotFound if it has expired or was swept
 */
export async function loadDeviceRequest(
  provider: Provider,
  deviceCode: string,
  nowSeconds: number,
): Promise<DeviceRequest> {
  const code = await provider.DeviceCode.find(deviceCode);
  if (!code) throw new errors.SessionNotFound('the code of the device has expired');
  return describeDevice(code, nowSeconds);
}
