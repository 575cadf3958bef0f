import { decodeBody, isSuccess, type JsonObject, parseObject } from '../oauth/foreign-json.ts';
import { type Ask, kindOf } from './ask.ts';
import { identityOfUserInfo, primaryAddress } from './identity.ts';
import type { UpstreamPreset } from './presets/preset.ts';
import type { UpstreamIdentity } from './upstream.ts';
import { UpstreamFault } from './upstream-fault.ts';
import type { UserInfoMapping } from './upstream-settings.ts';

/** Asks an upstream about the holder of an access token. */
export interface UserInfo {
  /** Gives its answer. @throws UpstreamFault; `user_info_refused` where it does not honour the token */
  read(endpoint: string, accessToken: string): Promise<JsonObject>;
  /** Says who somebody is by it, at an upstream without ID tokens. @throws UpstreamFault */
  identify(
    endpoint: string,
    accessToken: string,
    about: { issuer: string; mapping: UserInfoMapping },
  ): Promise<UpstreamIdentity>;
}

/** Creates what asks. @param name of the upstream */
export function createUserInfo(name: string, preset: UpstreamPreset, ask: Ask): UserInfo {
  const fault = (reason: 'user_info_refused' | 'user_info_malformed', detail?: string): UpstreamFault =>
    new UpstreamFault(name, kindOf(reason), reason, detail);
  const get = (url: string | URL, accessToken: string): Promise<Response> =>
    ask('user info', url, { headers: { authorization: `Bearer ${accessToken}` } });

  const read: UserInfo['read'] = async (endpoint, accessToken) => {
    const answer = await get(endpoint, accessToken);
    if (answer.status === 401) throw fault('user_info_refused');
    const body = parseObject(decodeBody(await answer.arrayBuffer()));
    if (preset.deadTokenErrors?.some((error) => error === body?.error)) throw fault('user_info_refused');
    if (!isSuccess(answer.status) || !body || body.ok === false) throw fault('user_info_malformed');
    return body;
  };

  /** The verified address of somebody, where the upstream has a list of them. It may have been denied to us. */
  async function findAddress(endpoint: string, accessToken: string): Promise<string | undefined> {
    if (preset.emailsPath === undefined) return undefined;
    const answer = await get(`${endpoint}/${preset.emailsPath}`, accessToken);
    if (answer.status !== 200) return undefined;
    return primaryAddress(await answer.json().catch(() => undefined));
  }

  return {
    read,
    async identify(endpoint, accessToken, { issuer, mapping }) {
      const answer = await read(endpoint, accessToken);
      const email = await findAddress(endpoint, accessToken);
      const identity = identityOfUserInfo(issuer, answer, mapping, email);
      if (!identity) throw fault('user_info_malformed', 'it names nobody');
      return identity;
    },
  };
}
