import type { MessageExtraInfo, AuthInfo as SdkAuthInfo } from '@modelcontextprotocol/server';
import type { Sender } from '../protocol.ts';
import { toSdkAuthInfo } from './caller.ts';
import { lazyRequest, type RequestBuilder } from './lazy-request.ts';

/** HTTP request as tools of SDK version 1 see it. Built on first use. */
class RequestInfo {
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  get headers(): Record<string, string> {
    return Object.fromEntries(this.#request.headers);
  }

  get url(): URL {
    return new URL(this.#request.url);
  }
}

/**
 * Data about the sender that a server gets with a message: `authInfo` in both versions of the SDK, the HTTP request as
 * `request` in version 2 and `requestInfo` in version 1.
 */
export class MessageContext implements MessageExtraInfo {
  readonly authInfo?: SdkAuthInfo;
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
    if (sender.authInfo) this.authInfo = toSdkAuthInfo(sender.authInfo);
  }

  get request(): Request | undefined {
    return canBuild(this.#sender) ? lazyRequest(this.#sender) : undefined;
  }

  get requestInfo(): RequestInfo | undefined {
    const { request } = this;
    return request && new RequestInfo(request);
  }

  get closeSSEStream(): (() => void) | undefined {
    const sender = this.#sender;
    return sender.closeSSEStream && (() => sender.closeSSEStream?.());
  }

  get closeStandaloneSSEStream(): (() => void) | undefined {
    const sender = this.#sender;
    return sender.closeStandaloneSSEStream && (() => sender.closeStandaloneSSEStream?.());
  }
}

function canBuild(sender: Sender): sender is Sender & RequestBuilder {
  return sender.request !== undefined;
}
