import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { DeviceRequest } from '../views/answer-target.ts';

/** Eight letters of an alphabet without vowels and look-alikes: 34 bits, read and typed in two halves. */
export const userCodeMask = '****-****';

type DeviceCode = NonNullable<Awaited<ReturnType<Provider['DeviceCode']['findByUserCode']>>>;

/** What is kept of the device that asks: the address, for the person to compare (RFC 8628 section 5.4). */
export function noteDevice(ctx: KoaContextWithOIDC): Record<string, unknown> {
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
 * @throws errors.SessionNotFound where it has expired or was swept
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
